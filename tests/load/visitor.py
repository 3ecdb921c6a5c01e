"""A visitor without a browser: speaks Streamlit's websocket protocol, for load and for what strangers send."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from types import TracebackType
from urllib.parse import urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ORDER = "flzbs"


class Visitor:
    """One tab at `host`, such as "localhost:8501"; a cookie like that of nginx keeps it at one process behind it."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.cookie = secrets.token_hex(16)
        self.calls = ""
        self.controls_id = self.fragment_id = ""
        self.revision = 0
        self.cached: dict[str, ForwardMsg] = {}

    async def __aenter__(self) -> Visitor:
        self.socket = await websockets.connect(
            f"ws://{self.host}/_stcore/stream",
            subprotocols=["streamlit"],
            max_size=None,
            open_timeout=60,
            additional_headers={"Cookie": f"five_calls={self.cookie}"},
        )
        return self

    async def __aexit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.socket.close()

    async def open(self, page: str, **query: object) -> str:
        """Go to a page; the HTML that it shows once its script has finished."""
        message = BackMsg()
        message.rerun_script.query_string = urlencode(query)
        message.rerun_script.page_name = "" if page == "home" else page
        await self.socket.send(message.SerializeToString())
        return await self._until_finished()

    async def open_stepper(self) -> None:
        self.calls = ""
        await self.open("step", calls="")
        if not self.controls_id:
            raise RuntimeError("the stepper's controls did not appear")

    async def press(self) -> float:
        """Make the next call of the right order, from a new loop after four batches; seconds until the run finished."""
        if len(self.calls) >= 4 * len(ORDER):
            self.calls = ""
        self.calls += ORDER[len(self.calls) % len(ORDER)]
        message = BackMsg()
        message.rerun_script.fragment_id = self.fragment_id
        message.rerun_script.query_string = f"calls={self.calls}"
        state = message.rerun_script.widget_states.widgets.add()
        state.id = self.controls_id
        sent = {"calls": self.calls, "graph": False, "guess": None, "rev": self.revision}
        state.json_value = json.dumps({"state": sent})
        begin = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        shown = await self._until_finished()
        if f'data-position="{len(self.calls)}"' not in shown:
            raise RuntimeError(f"no row for call {len(self.calls)}")
        return time.perf_counter() - begin

    async def _until_finished(self) -> str:
        """Take messages until the script or fragment run ends; the HTML that it showed."""
        shown = ""
        while True:
            message = ForwardMsg()
            message.ParseFromString(await asyncio.wait_for(self.socket.recv(), 120))
            if message.WhichOneof("type") == "ref_hash":
                message = self.cached[message.ref_hash]
            elif message.hash:
                self.cached[message.hash] = message
            if message.WhichOneof("type") == "script_finished":
                return shown
            if message.WhichOneof("type") != "delta":
                continue
            element = message.delta.new_element
            if element.WhichOneof("type") == "exception":
                raise RuntimeError(element.exception.message)
            if element.WhichOneof("type") == "html":
                shown += element.html.body
            if element.WhichOneof("type") == "bidi_component" and "stepper" in element.bidi_component.component_name:
                self.controls_id = element.bidi_component.id
                self.fragment_id = message.delta.fragment_id
                self.revision = json.loads(element.bidi_component.json)[0]["rev"]
