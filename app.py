"""What `streamlit run app.py` starts: the server, warmed up before its first visitor."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Route

from core.process import answer_at_once, keep_tidy, warm_up
from pages.ui.chart import PLOTLY_JS
from pages.ui.errors import on_script_error, start_log
from pages.ui.warm import load


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    start_log()
    load()
    warm_up()
    answer_at_once()
    tidying = asyncio.create_task(keep_tidy())
    yield
    tidying.cancel()


async def plotly_js(_request: Request) -> FileResponse:
    """The plotly.js of the installed package, so that no page asks another host for it."""
    return FileResponse(PLOTLY_JS, media_type="text/javascript", headers={"Cache-Control": "public, max-age=86400"})


app = st.App(
    "pages/router.py", lifespan=lifespan, routes=[Route("/plotly.min.js", plotly_js)], on_script_error=on_script_error
)
