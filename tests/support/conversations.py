"""Long conversations for benchmarks: the same for the same seed, no two messages alike."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS = """
the a of to in is and for that with this on are from which when before after while because although every
another account address airport amount answer archive balance battery booking branch bridge budget cable
calendar camera capital carrier change charge chapter client column comment contract country courier customer
database deadline delay delivery deposit device distance document driver engine estimate evening exchange
failure ferry figure flight forecast garden harbour heading holiday hotel import index insurance invoice island
journey kitchen label language ledger letter library licence limit machine manager margin market meeting message
method minute mobile module monitor morning museum network notice number office opening order package partner
passenger password payment percent permit picture platform policy portal position power price printer problem
process product profile project proposal quarter question queue quote railway receipt record refund region
release reminder rental repair report request reservation response result return revenue review river route
sample schedule screen season section sensor server service session shelf shipment signal station storage street
student subject summary supplier surface survey switch system ticket timetable transfer traveller update upgrade
vendor version village visitor warehouse weather window winter writing arrives asks begins breaks builds calls
checks closes collects compares confirms costs covers declines delivers depends explains fails finds follows
happens includes invites keeps leaves lists loads measures moves needs opens pays prefers prints raises reads
replaces reports requires returns runs saves sends shows starts stops stores takes tests turns waits available
broken careful cheaper clear daily direct early empty exact final former general heavy large late local missing
monthly narrow nearest normal northern outdated possible previous private public ready recent regular second
separate several similar simple southern steady sudden third unusual usual valid visible weekly wrong yellow
""".split()  # noqa: SIM905  # four hundred quoted words would fill four screens
_TOOLS = ("search_orders", "get_weather", "convert_currency", "read_document", "list_flights")


def prose(random: Random, words: int) -> str:
    """Prose of about so many words, with the numbers and identifiers that real conversations are full of."""
    sentences = []
    while words > 0:
        length = min(words, random.randint(6, 18))
        sentence = random.choices(_WORDS, k=length)
        if random.random() < 0.4:
            sentence[random.randrange(length)] = f"{random.choice('ABCDEFGH')}{random.randint(100, 99_999)}"
        if random.random() < 0.3:
            sentence.append(f"{random.uniform(1, 900):.2f} euros")
        sentences.append(" ".join(sentence).capitalize() + random.choice(".....?!"))
        words -= length
    return " ".join(sentences)


def _record(random: Random, number: int) -> str:
    rows = [
        {"id": f"{number}-{row}", "name": " ".join(random.choices(_WORDS, k=3)), "total": random.randint(1, 10**6)}
        for row in range(random.randint(1, 3))
    ]
    return json.dumps({"rows": rows, "took_ms": random.randint(2, 900)})


def rounds(count: int, *, seed: int = 20_260_101, tool_share: float = 0.35) -> Iterator[list[BaseMessage]]:
    """Rounds of about 200 tokens: a question, in some of them a call of one to three tools at once, and an answer."""
    random = Random(seed)
    for number in range(count):
        messages: list[BaseMessage] = [HumanMessage(f"{number}. {prose(random, random.randint(15, 60))}")]
        words = random.randint(60, 140)
        if random.random() < tool_share:
            calls = [
                {"name": random.choice(_TOOLS), "args": {"query": prose(random, 5)}, "id": f"call_{number}_{index}"}
                for index in range(random.choice((1, 1, 2, 3)))
            ]
            messages.append(AIMessage(f"{number}. {prose(random, 8)}", tool_calls=calls))
            messages += [ToolMessage(_record(random, number), tool_call_id=str(call["id"])) for call in calls]
            words //= 2
        messages.append(AIMessage(f"{number}. {prose(random, words)}"))
        yield messages


def conversation(count: int, *, seed: int = 20_260_101) -> list[BaseMessage]:
    """A system prompt and so many rounds."""
    return [
        SystemMessage("You help travellers. Answer briefly, and never book before the traveller agreed."),
        *(message for messages in rounds(count, seed=seed) for message in messages),
    ]


def model_calls(messages: list[BaseMessage]) -> list[int]:
    """How many messages each call of the model had before it: one call for every assistant message."""
    return [index for index, message in enumerate(messages) if isinstance(message, AIMessage)]
