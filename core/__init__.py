"""The training loop of Five Calls as a library. It imports neither Streamlit nor Plotly."""
