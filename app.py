"""What `streamlit run app.py` starts: the server, warmed up before its first visitor."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from core.process import warm_up


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    warm_up()
    yield


app = st.App("pages/router.py", lifespan=lifespan)
