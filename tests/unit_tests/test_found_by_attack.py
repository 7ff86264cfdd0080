"""What an attack from the contract found; each test states the right value."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps, loads
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_tiered_memory import (
    BudgetExceededError,
    EstimatingCounter,
    InMemoryMessageLog,
    MessageTrimmer,
    TieredChatMessageHistory,
    TiktokenCounter,
    trim_messages,
)
from langchain_tiered_memory.messages.tokens import MediaPrices

FOX = "The quick brown fox jumps over the lazy dog. "


def call(*ids: str, args: dict[str, Any] | None = None) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "f", "args": args or {}, "id": i, "type": "tool_call"} for i in ids])


@pytest.mark.filterwarnings("ignore")
def test_a_question_larger_than_the_budget_does_not_wedge_the_session() -> None:
    log = InMemoryMessageLog()
    prompt = ChatPromptTemplate([("placeholder", "{history}"), ("human", "{q}")])
    chat = RunnableWithMessageHistory(
        prompt | FakeListChatModel(responses=["ok"]),
        lambda session_id: TieredChatMessageHistory(session_id, log, max_tokens=200),
        input_messages_key="q",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": "s"}}
    assert chat.invoke({"q": "document " * 500}, config).content == "ok"
    assert chat.invoke({"q": "summarise it"}, config).content == "ok"  # its own question is the newest turn
    assert len(log.messages("s")) == 4


HANG = """
import os, socket, threading
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(50)
kept = []
def swallow():
    while True: kept.append(server.accept())
threading.Thread(target=swallow, daemon=True).start()
os.environ["HTTPS_PROXY"] = os.environ["https_proxy"] = f"http://127.0.0.1:{server.getsockname()[1]}"
os.environ["TIKTOKEN_CACHE_DIR"] = os.environ["EMPTY"]
from langchain_tiered_memory import TiktokenCounter
assert TiktokenCounter("p50k_base").count_text("hello world") > 0
assert TiktokenCounter("r50k_base").count_text("hello world") > 0
print("done", flush=True)
os._exit(0)
"""


def test_a_network_that_swallows_packets_does_not_hang_the_second_counter(tmp_path: Path) -> None:
    script = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "ignore", "-c", HANG],
        env={**os.environ, "EMPTY": str(tmp_path)},
        capture_output=True,
        timeout=70,
        check=False,
    )
    assert script.stdout.strip() == b"done"


@pytest.mark.parametrize(
    "after",
    [[AIMessage("done")], [call("b"), ToolMessage("ok", tool_call_id="b")]],
    ids=["answer", "another unit"],
)
def test_a_unit_that_alone_exceeds_the_budget_meets_the_policy(after: list[BaseMessage]) -> None:
    chat = [HumanMessage("q"), call("a"), ToolMessage(FOX * 900, tool_call_id="a"), *after]
    counter = TiktokenCounter("gpt-4o")
    kept = trim_messages(chat, max_tokens=2_000, token_counter=counter)
    assert [m.type for m in kept] == [m.type for m in chat]  # the result is shrunk, not its unit dropped
    assert counter(kept) <= 2_000
    with pytest.raises(BudgetExceededError):
        trim_messages(chat, max_tokens=2_000, token_counter=counter, oversized="raise")


def test_the_newest_unit_with_huge_arguments_is_not_dropped_silently(caplog: pytest.LogCaptureFixture) -> None:
    chat = [HumanMessage("q"), call("a", args={"x": FOX * 900}), ToolMessage("r", tool_call_id="a")]
    kept = trim_messages(chat, max_tokens=2_000, token_counter=TiktokenCounter("gpt-4o"), oversized="shrink")
    assert kept == chat[:1]
    assert "the whole unit is left out" in caplog.text


def test_the_number_that_the_error_names_is_enough() -> None:
    chat = [HumanMessage("q"), call("a"), ToolMessage(FOX * 20, tool_call_id="a")]
    counter = TiktokenCounter("gpt-4o")
    with pytest.raises(BudgetExceededError) as error:
        trim_messages(chat, max_tokens=0, token_counter=counter, oversized="raise")
    trim_messages(chat, max_tokens=error.value.needed, token_counter=counter, oversized="raise")


def any_message(message: AnyMessage) -> int:
    return len(message.content)


def union(message: HumanMessage | AIMessage) -> int:
    return len(message.content)


def optional(message: BaseMessage | None = None) -> int:
    return len(message.content) if message else 0


@pytest.mark.parametrize("counter", [any_message, union, optional])
def test_a_function_of_one_message_is_known_by_any_message_hint(counter: Any) -> None:
    chat = [HumanMessage("h1"), AIMessage("a1"), HumanMessage("h2")]
    assert trim_messages(chat, max_tokens=2, token_counter=counter) == chat[-1:]


@pytest.mark.filterwarnings("ignore")
def test_media_prices_of_ones_own_are_not_lost_by_dumps_and_loads() -> None:
    plain = MessageTrimmer(max_tokens=99, token_counter=TiktokenCounter("gpt-4o"))
    priced = MessageTrimmer(max_tokens=99, token_counter=TiktokenCounter("gpt-4o", media=MediaPrices(image=7)))
    allowed: dict[str, Any] = {
        "allowed_objects": [MessageTrimmer],
        "valid_namespaces": ["langchain_tiered_memory"],
    }
    assert loads(dumps(plain), **allowed).token_counter.model == "gpt-4o"
    with pytest.raises(NotImplementedError, match="TiktokenCounter"):
        loads(dumps(priced), **allowed)


def test_pin_takes_one_id_or_refuses_it() -> None:
    chat = [HumanMessage("old", id="first"), AIMessage("a"), HumanMessage("new", id="last")]
    try:
        kept = trim_messages(chat, max_tokens=2, token_counter=len, pin="first")  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return
    assert chat[0] in kept


def test_the_log_does_not_drop_a_subclass_field_silently() -> None:
    class Rated(HumanMessage):
        stars: int = 0

    log = InMemoryMessageLog()
    try:
        log.append("s", [Rated("x", stars=5)])
    except TypeError:
        return  # refusing it by name loses nothing
    assert getattr(log.messages("s")[0], "stars", None) == 5


def test_replay_prints_no_control_characters_of_a_title(tmp_path: Path) -> None:
    def node(key: str, parent: str | None, children: list[str], role: str) -> dict[str, Any]:
        content = {"content_type": "text", "parts": ["hi"]}
        return {
            "id": key,
            "parent": parent,
            "children": children,
            "message": {"id": key, "author": {"role": role}, "content": content},
        }

    mapping = {"a": node("a", None, ["b"], "user"), "b": node("b", "a", [], "assistant")}
    file = tmp_path / "export.json"
    file.write_text(json.dumps([{"title": "x\x1b[2Jy", "id": "i", "current_node": "b", "mapping": mapping}]))
    command = [sys.executable, "-m", "langchain_tiered_memory.cli", "replay", str(file), "--max-tokens", "500"]
    shown = subprocess.run(  # noqa: S603
        [*command, "--model", "estimate"], capture_output=True, timeout=60, check=False
    )
    assert shown.returncode == 0
    assert b"\x1b" not in shown.stdout


def test_html_to_stdout_writes_no_file_called_dash(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]))
    command = [sys.executable, "-m", "langchain_tiered_memory.cli", "replay", str(file), "--max-tokens", "500"]
    subprocess.run(  # noqa: S603
        [*command, "--model", "estimate", "--html", "-"], cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    assert not (tmp_path / "-").exists()


PROSE = {
    "zh": "從前有一位老先生住在山腳下的小屋裡，他每天清晨都會提著竹籃到溪邊撿拾鵝卵石。鄰居們覺得奇怪，紛紛猜測他究竟想"
    "做什麼。直到某個颱風夜，暴漲的溪水沖毀了堤岸，人們才發現那些石頭早已被他一塊塊疊成了堅固的護欄。天剛蒙蒙亮，老王頭就"
    "蹲在院门口抽旱烟。村口的槐树上落了几只喜鹊，叽叽喳喳叫个不停。他眯着眼望着远处山梁上的薄雾，心里盘算着今年的收成。",
    "ja": "むかしむかし、あるところに、おじいさんとおばあさんがすんでいました。おじいさんはやまへしばかりに、おばあ"
    "さんはかわへせんたくにいきました。ねえねえ、今日の夜ひま？よかったらご飯行かない？えっ、行く行く！どこにする？",
    "ko": "야 오늘 저녁에 시간 되냐? 치맥 ㄱㄱ? ㅋㅋㅋㅋㅋ 오 좋지 ㅎㅎ 몇 시에 어디서 볼래? 나 여섯 시 반에 퇴근함. "
    "그럼 일곱 시에 강남역 11번 출구에서 보자. 늦으면 니가 쏘는 거다. 알겠어ㅠㅠ 근데 오늘 비 온다던데 우산 챙겨라",
    "th": "ตั้งกระทะใส่น้ำมันเล็กน้อย นำพริกแกงลงไปผัดจนหอม ใส่หัวกะทิทีละน้อย ผัดจนแตกมัน ใส่ไก่ที่หั่นไว้ลงไปผัดให้สุก "
    "ครั้งหนึ่งนานมาแล้ว มีชายชราผู้หนึ่งอาศัยอยู่ริมแม่น้ำกับหลานสาวตัวน้อย ทุกเช้าเขาจะพายเรือออกไปหาปลา",
}


@pytest.mark.parametrize("language", PROSE)
def test_the_estimate_of_stories_and_chat_is_not_far_under(language: str) -> None:
    exact = TiktokenCounter("o200k_base").count_text(PROSE[language])
    assert EstimatingCounter().count_text(PROSE[language]) >= 0.9 * exact
