"""Whatever can be evaluated: stores of facts, retrievers, functions, strategies over messages, whole memories."""

from __future__ import annotations

from dataclasses import replace

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_tiered_memory import InMemoryFactStore, SummaryMemory
from langchain_tiered_memory.evaluation import (
    EpisodicTarget,
    MemoryCase,
    MemoryDataset,
    RetrieverTarget,
    evaluate,
    records_of,
)
from langchain_tiered_memory.evaluation.contexts import as_target
from langchain_tiered_memory.messages.trimming import MessageTrimmer
from langchain_tiered_memory.types import MemoryScope

DATASET = MemoryDataset.synthetic(events=40, seed=2)
FACTS = DATASET.where(categories=["current", "updated", "expired", "as_of"])


class Shelf:
    """An episodic memory by its verbs alone; it remembers what it was called with and finds by shared words."""

    def __init__(self):
        self.kept: dict[str, tuple] = {}
        self.ended: dict[str, object] = {}
        self.calls = []

    def remember(self, messages, *, scope, created_at, entity=None, valid_until=None):
        self.calls.append((len(messages), entity))
        ids = []
        for message in messages:
            if message.type == "human":
                ids.append(f"episode of {message.id}")
                self.kept[ids[-1]] = (scope, created_at, valid_until, message.text)
        return ids

    def supersede(self, old, new, *, scope, at):
        assert scope.session is None
        assert new in self.kept
        self.ended[old] = at

    def recall(self, query, *, scope, k, as_of=None, include_expired=False):
        words = set(query.lower().split())
        found = []
        for name, (owner, at, until, text) in self.kept.items():
            over = [one for one in (until, self.ended.get(name)) if one is not None]
            valid = include_expired or (at <= as_of and all(end > as_of for end in over))
            if owner.user_key == scope.user_key and valid:
                found.append((len(words & set(text.lower().split())), name, text))
        best = sorted(found, reverse=True)[:k]
        return [Document(text, id=name, metadata={"id": name}) for _, name, text in best]


def test_an_episodic_memory_is_told_validity_and_asked_for_what_is_valid():
    shelf = Shelf()
    report = evaluate(shelf, DATASET)
    assert report.targets[0].name == "episodic memory"
    for fault in ("foreign", "early", "superseded", "expired"):
        assert report.score(f"contamination.{fault}") == 0
    assert report.score("recall@5") > 0.7
    assert report.score("as_of_accuracy") > 0.5  # sharing words is not knowing, but what it finds of then is of then


def test_without_validity_it_finds_what_is_over():
    shelf = Shelf()
    target = EpisodicTarget(shelf)
    report = evaluate({"on": target, "off": target.without_validity()}, DATASET)
    assert report.score("contamination", "on") < 0.1 < report.score("contamination", "off")
    assert report.score("contamination.foreign", "off") == 0
    alone = evaluate(EpisodicTarget(Shelf(), validity=False), DATASET)
    assert alone.score("contamination") == report.score("contamination", "off")


def test_what_was_said_at_one_time_is_told_in_one_call():
    said = records_of([HumanMessage("One.", id="1"), AIMessage("Yes.", id="2"), HumanMessage("Two.", id="3")])
    same = tuple(replace(one, at=said[0].at) for one in said)
    case = MemoryCase(id="c", question="one.", messages=same, expected=["2"])
    shelf = Shelf()
    report = evaluate(shelf, MemoryDataset(name="d", cases=(case,), now=said[-1].at, unit="round"))
    assert shelf.calls == [(3, None)]
    # The evidence is the answer, which lies in the round that is named by its first message.
    assert report.targets[0].cases[0].returned[0] == "1"
    assert report.score("mrr") == 1


def test_units_that_a_memory_does_not_keep_apart_are_refused():
    said = records_of([AIMessage("An answer to nothing.", id="1")])
    dataset = MemoryDataset(name="d", cases=(MemoryCase(id="c", question="?", messages=said),), now=said[0].at)
    with pytest.raises(ValueError, match="0 episodes of 1 units"):
        evaluate(Shelf(), dataset)


def test_a_fact_store_knows_exactly_what_holds():
    report = evaluate(InMemoryFactStore(clock=lambda: DATASET.now), FACTS)
    report.check(recall=1, contamination=0, as_of_accuracy=1, stale_first=0, current=1, precision=1)
    assert report.targets[0].name == "fact store"


def test_a_question_without_an_attribute_gets_no_fact():
    rules = DATASET.where(categories=["rule"])
    assert evaluate(InMemoryFactStore(clock=lambda: DATASET.now), rules).score("recall") == 0


def vector_store():
    return InMemoryVectorStore(DeterministicFakeEmbedding(size=8))


def test_a_retriever_over_a_vector_store_is_filled_and_asked_for_k():
    store = vector_store()
    report = evaluate(store.as_retriever(search_kwargs={"k": 1}), DATASET, k=7)
    assert len(store.store) == len(DATASET.records)
    assert report.score("returned") == 7
    assert report.score("contamination.foreign") > 0
    evaluate(store.as_retriever(), DATASET)
    assert len(store.store) == len(DATASET.records)  # told again, nothing changes


def test_a_vector_store_can_be_filtered_by_user():
    mine = RetrieverTarget(
        vector_store().as_retriever(),
        by_user=lambda scope: {"filter": lambda document: document.metadata["user"] == scope.user},
    )
    assert evaluate(mine, DATASET).score("contamination.foreign") == 0


class Scoped(BaseRetriever):
    """Answers with the scope of its run."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun):
        assert run_manager
        return [Document(query, id="e00001"), Document("x", metadata={"record_id": "e00002"}), Document("y", id="own")]


def test_any_retriever_is_asked_as_it_is():
    report = evaluate(Scoped(), DATASET, name="mine")
    assert report.targets[0].cases[0].returned == ("e00001", "e00002", "own")
    assert report.score("returned") == 3


def test_a_retriever_gets_the_scope_of_the_question():
    seen = []

    class Seeing(BaseRetriever):
        def invoke(self, query, config=None, **_):
            seen.append((query, config["configurable"]))
            return []

        def _get_relevant_documents(self, query: str, *, run_manager):
            raise NotImplementedError

    scope = MemoryScope(user="ada", tenant="acme", session="s")
    case = MemoryCase(id="c", question="?", scope=scope)
    evaluate(Seeing(), MemoryDataset(name="d", cases=(case,), now=DATASET.now))
    assert seen == [("?", {"user_id": "ada", "tenant_id": "acme", "session_id": "s"})]


@pytest.mark.parametrize(
    "answer",
    [
        ["e00001"],
        (one for one in ["e00001"]),
        [Document("x", id="e00001")],
        {"ids": ["e00001"], "texts": ["x"]},
    ],
    ids=["ids", "generator", "documents", "dict"],
)
def test_a_function_may_answer_in_several_ways(answer):
    case = replace(DATASET.cases[0], expected=("e00001",), stale=())
    report = evaluate(lambda _: answer, MemoryDataset(name="d", cases=(case,), now=DATASET.now))
    assert report.targets[0].cases[0].returned == ("e00001",)


@pytest.mark.parametrize("answer", ["e00001", None, 3])
def test_an_answer_that_is_none_is_named(answer):
    with pytest.raises(TypeError, match="give a list of ids or Documents"):
        evaluate(lambda _: answer, DATASET, workers=1)


@pytest.mark.parametrize("given", [7, "memory", Shelf, None])
def test_what_cannot_be_evaluated_is_named(given):
    with pytest.raises(TypeError, match="cannot be evaluated"):
        as_target(given)


# --- strategies over messages -----------------------------------------------------------------------------------------

RULES = DATASET.where(categories=["rule"])


def test_everything_sent_keeps_every_constraint():
    report = evaluate(RunnableLambda(lambda messages: messages, name="all of it"), RULES, max_tokens=100_000)
    assert report.targets[0].name == "all of it"
    assert report.score("constraint_retention") == 1
    assert report.score("context_recall") == 1
    assert report.score("shared_prefix") > 0.8
    assert report.score("tokens_per_round") > 100


def rules_first(messages):
    """A strategy that keeps what binds, and of the rest the end."""
    binding = [one for one in messages if any(rule in one.text for case in RULES.cases for rule in case.constraints)]
    return [*binding, *messages[-4:]]


def test_what_a_trimmer_loses_shows_against_what_keeps_it():
    targets = {
        "end": RunnableLambda(lambda messages: messages[-4:]),
        "rules": RunnableLambda(rules_first),
        "all": RunnableLambda(lambda messages: messages),
    }
    report = evaluate(targets, RULES, max_tokens=100_000)
    assert report.score("constraint_retention", "end") < 0.5
    assert report.score("constraint_retention", "rules") == 1
    tokens = [report.score("tokens_per_round", name) for name in targets]
    assert tokens == sorted(tokens)
    assert report.score("shared_prefix", "end") < 0.1 < report.score("shared_prefix", "all")


def test_the_strategies_of_the_package_are_replayed_within_their_budget():
    trimmer = MessageTrimmer(max_tokens=150, token_counter=len_of)
    summary = SummaryMemory(max_tokens=150, token_counter=len_of)
    report = evaluate({"trimmer": trimmer, "summary": summary}, RULES, max_tokens=150, token_counter=None)
    assert 0 <= report.score("constraint_retention", "trimmer") < 1
    assert report.score("shared_prefix", "summary") > report.score("shared_prefix", "trimmer")


def len_of(messages):
    """Ten tokens a message."""
    return 10 * len(messages)


def test_a_graph_that_answers_with_its_state_is_read():
    report = evaluate(RunnableLambda(lambda messages: {"messages": messages[-1:]}), RULES)
    assert report.score("constraint_retention") == 0


def test_a_question_of_a_user_without_messages_is_asked_alone():
    case = MemoryCase(id="c", question="Is anybody there?", constraints=["anybody there"])
    dataset = MemoryDataset(name="d", cases=(case,), now=DATASET.now)
    assert evaluate(RunnableLambda(lambda messages: messages), dataset).score("constraint_retention") == 1


# --- a memory of several tiers ----------------------------------------------------------------------------------------


class Tiers:
    """A memory of several tiers by its parts alone."""

    def __init__(self):
        self.episodes = Shelf()
        self.facts = InMemoryFactStore(clock=lambda: DATASET.now)
        self.asked = []

    def assembler(self):
        def assemble(given, config):
            self.asked.append(config["configurable"])
            scope = MemoryScope.from_config(config)
            found = self.episodes.recall(given["question"], scope=scope.whole_user(), k=3, as_of=DATASET.now)
            return [SystemMessage("\n".join(one.page_content for one in found)), HumanMessage(given["question"])]

        return RunnableLambda(assemble)


def test_a_memory_of_several_tiers_is_told_and_asked_in_all_of_them():
    tiers = Tiers()
    report = evaluate(tiers, FACTS, max_tokens=1_000)
    assert report.targets[0].name == "tiered memory"
    assert report.score("recall@5") > 0.7
    assert report.score("context_recall") > 0.5
    assert report.score("tokens_per_round") > 10
    assert len({one["session_id"] for one in tiers.asked}) == sum(case.as_of is None for case in FACTS.cases)
    case = next(one for one in FACTS.cases if one.category == "current")
    assert tiers.facts.get(case.scope, case.entity, case.attribute).value == case.answer


@pytest.mark.parametrize("answer", ["e00001", {"ids": "e00001"}, {"documents": []}, {}, None, 5])
def test_an_answer_that_names_no_records_is_refused(answer):
    with pytest.raises(TypeError, match="give a list of ids or Documents, or a dict with such 'ids'"):
        evaluate(lambda _: answer, DATASET, workers=1)


def test_ids_that_are_numbers_are_texts():
    case = MemoryCase(id="c", question="Where?", messages=records_of([HumanMessage("In Rome.")]), expected=["0"])
    report = evaluate(lambda _: {"ids": [0]}, MemoryDataset(name="n", cases=(case,), now=DATASET.now))
    assert report.score("recall@5") == 1


def test_a_document_that_nobody_can_tell_is_named():
    with pytest.raises(ValueError, match=r"the document 'In Rome\.' has no id: set it, or metadata\['record_id'\]"):
        evaluate(lambda _: [Document("In Rome.")], DATASET, workers=1)


def test_no_target_is_none():
    with pytest.raises(ValueError, match="no target in the dict"):
        evaluate({}, DATASET)


def test_a_memory_that_was_not_told_and_has_names_of_its_own_is_no_zero():
    shelf = Shelf()
    told = EpisodicTarget(shelf)
    report = evaluate(told, DATASET, ["recall@5"])
    assert evaluate(told, DATASET, ["recall@5"], tell=False).scores() == report.scores()
    with pytest.raises(ValueError, match=r"nothing that came back is known to the data set, such as 'episode of "):
        evaluate(shelf, DATASET, ["recall@5"], tell=False)
    assert evaluate(lambda _: [], DATASET, ["recall@5"], tell=False).score("recall") == 0
