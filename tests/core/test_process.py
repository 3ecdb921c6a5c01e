import socket

from core.process import answer_at_once


def test_what_a_socket_accepts_sends_at_once() -> None:
    with socket.socket() as listening, socket.socket() as visitor:  # without a protocol named, as Streamlit's own
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        answer_at_once()
        visitor.connect(listening.getsockname())
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not visitor.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
