"""The home page."""

import streamlit as st

st.write("home")
