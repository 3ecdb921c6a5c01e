"""The smallest page there is, one button and one text: what `bench_stepper.py` measures the stepper against."""

import streamlit as st

st.session_state.setdefault("count", 0)
if st.button("press"):
    st.session_state.count += 1
st.text(st.session_state.count)
