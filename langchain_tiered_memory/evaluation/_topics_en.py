"""What made-up users talk about in English."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.evaluation._topics import Language, Rule, Topic

__all__ = ["ENGLISH"]

_PEOPLE: Final = ("my sister Nora", "my brother Jonas", "my mother", "my colleague Mara")
_PROJECTS: Final = ("Falcon", "Heron", "Osprey", "Kestrel")
_SERVERS: Final = ("atlas", "borealis", "castor")

_PERMANENT: Final = (
    Topic(
        "residence", "permanent", _PEOPLE,
        ("Turin", "Bergen", "Porto", "Graz", "Leeds", "Ghent", "Lyon", "Tartu", "Malaga", "Utrecht"),
        ("{e} lives in {v}.", "{e} has a flat in {v}."),
        ("{e} has moved and lives in {v} now.", "{e} found a new flat, it is in {v}."),
        ("Which city does {e} live in?", "Where is the home of {e}?", "In what town can I visit {e}?"),
    ),
    Topic(
        "employer", "permanent", _PEOPLE,
        ("Norvik Shipping", "Delmar Foods", "the city library", "Orbis Insurance", "Lumen Optics", "a dental practice",
         "Halden Paper", "the tram company"),
        ("{e} works for {v}.", "{e} is employed at {v}."),
        ("{e} changed jobs and works for {v} now.", "{e} left the old job, it is {v} from now on."),
        ("Who does {e} work for?", "What is the employer of {e}?", "Where does {e} have a job?"),
    ),
    Topic(
        "allergy", "permanent", _PEOPLE,
        ("peanuts", "shellfish", "celery", "sesame", "lupin", "mustard", "kiwi", "eggs"),
        ("{e} is allergic to {v}.", "{e} can't eat {v}, it is an allergy."),
        ("The doctor tested {e} again: the allergy is to {v}.",),
        ("What is {e} allergic to?", "Which food must I keep away from {e}?"),
    ),
    Topic(
        "birthday", "permanent", _PEOPLE,
        ("3 March", "17 April", "29 June", "8 August", "21 October", "12 December", "5 February", "30 May"),
        ("The birthday of {e} is on {v}.", "{e} was born on {v}."),
        ("I had the date wrong, the birthday of {e} is on {v}.",),
        ("When is the birthday of {e}?", "On which day do I congratulate {e}?"),
    ),
    Topic(
        "instrument", "permanent", _PEOPLE,
        ("cello", "oboe", "accordion", "trombone", "harp", "viola", "banjo", "clarinet"),
        ("{e} plays the {v}.", "{e} has lessons on the {v}."),
        ("{e} switched to the {v}.", "{e} gave up the old instrument and plays the {v} now."),
        ("Which instrument does {e} play?", "What does {e} make music on?"),
    ),
)  # fmt: skip

_QUARTER: Final = (
    Topic(
        "deadline", "90-day", _PROJECTS,
        ("14 January", "2 February", "19 March", "6 April", "23 May", "11 July", "28 August", "15 September"),
        ("The deadline of project {e} is {v}.", "{e} has to be done by {v}."),
        ("The deadline of project {e} was moved to {v}.", "{e} got more time, it is due on {v}."),
        ("When is the deadline of {e}?", "By when do we have to deliver {e}?", "What is the due date of {e}?"),
    ),
    Topic(
        "lead", "90-day", _PROJECTS,
        ("Ines", "Tomas", "Priya", "Anton", "Yuki", "Selma", "Bruno", "Olga"),
        ("{v} leads project {e}.", "The person in charge of {e} is {v}."),
        ("{v} took over the lead of {e}.", "From now on {v} is in charge of {e}."),
        ("Who leads {e}?", "Who is responsible for {e}?", "Whom do I ask about {e}, who is in charge?"),
    ),
    Topic(
        "budget", "90-day", _PROJECTS,
        ("12,000 euros", "18,500 euros", "24,000 euros", "31,000 euros", "47,500 euros", "60,000 euros"),
        ("The budget of {e} is {v}.", "We may spend {v} on {e}."),
        ("The budget of {e} was changed to {v}.", "Finance corrected it: {v} for {e}."),
        ("What is the budget of {e}?", "How much may we spend on {e}?", "How much money does {e} have?"),
    ),
    Topic(
        "database", "90-day", _PROJECTS,
        ("PostgreSQL", "MariaDB", "SQLite", "Cassandra", "MongoDB", "DuckDB"),
        ("{e} keeps its data in {v}.", "The database of {e} is {v}."),
        ("{e} was migrated to {v}.", "We replaced the database of {e} with {v}."),
        ("Which database does {e} use?", "Where does {e} store its data?"),
    ),
    Topic(
        "port", "90-day", _SERVERS,
        ("22", "2222", "49222", "8022", "10022", "2022"),
        ("The SSH port of the server {e} is {v}.", "SSH on {e} listens on port {v}."),
        ("The SSH port of {e} was changed to {v}.", "After the audit {e} listens on port {v}."),
        ("Which SSH port does {e} use?", "On what port do I log in to {e}?"),
    ),
    Topic(
        "class", "90-day", ("yoga", "pottery", "Spanish", "chess"),
        ("Monday at 18:00", "Tuesday at 19:30", "Wednesday at 17:15", "Thursday at 20:00", "Saturday at 10:00"),
        ("My {e} class is on {v}.", "I go to {e} every {v}."),
        ("My {e} class was moved to {v}.",),
        ("When is my {e} class?", "On which day and at what time do I go to {e}?"),
    ),
)  # fmt: skip

_WEEK: Final = (
    Topic(
        "room", "7-day", ("Hotel Aurora", "Hotel Bellevue", "Hotel Corona"),
        ("112", "207", "318", "404", "519", "623"),
        ("My room at the {e} is {v}.", "They gave me room {v} at the {e}."),
        ("They moved me at the {e}, my room is {v} now.",),
        ("What is my room number at the {e}?", "Which room do I have at the {e}?"),
    ),
    Topic(
        "wifi", "7-day", ("library", "office", "café on the corner"),
        ("plum-tiger-41", "blue-kettle-77", "sandy-moon-08", "green-otter-63", "quiet-pine-15"),
        ("The guest Wi-Fi code of the {e} is {v}.", "To get online in the {e} you type {v}."),
        ("The {e} has a new Wi-Fi code, {v}.",),
        ("What is the Wi-Fi code of the {e}?", "How do I get on the network of the {e}?"),
    ),
    Topic(
        "parking", "7-day", ("car", "van", "trailer"),
        ("level 2, bay 14", "level 3, bay 40", "the north lot", "Kanal Street 9", "behind the station"),
        ("I parked the {e} at {v}.", "The {e} stands at {v}."),
        ("I moved the {e}, it stands at {v} now.",),
        ("Where did I park the {e}?", "Where do I find the {e}?"),
    ),
    Topic(
        "meeting", "7-day", ("Mr. Tan", "Dr. Weiss", "Ms. Okafor"),
        ("9:15", "10:30", "13:45", "15:00", "16:20"),
        ("The meeting with {e} is at {v}.", "I see {e} at {v}."),
        ("{e} can't make it, the meeting is at {v} now.", "The meeting with {e} was put off to {v}."),
        ("At what time is the meeting with {e}?", "When do I see {e}?"),
    ),
    Topic(
        "gate", "7-day", ("Vilnius", "Oslo", "Split"),
        ("A12", "B07", "C31", "D18", "F22"),
        ("The flight to {e} leaves from gate {v}.", "Boarding for {e} is at gate {v}."),
        ("The gate of the flight to {e} was changed to {v}.",),
        ("Which gate does the flight to {e} leave from?", "Where do I board for {e}?"),
    ),
)  # fmt: skip

ENGLISH: Final = Language(
    topics=(*_PERMANENT, *_QUARTER, *_WEEK),
    rules=(
        Rule("Never send an e-mail to a client before 9:00.", "When may clients get e-mail from us?"),
        Rule("Use only GET requests against the production API.", "Which requests are allowed on the production API?"),
        Rule("Do not delete a branch without asking me first.", "What must you do before a branch is deleted?"),
        Rule("Always answer invoices in German.", "In which language are invoices answered?"),
        Rule("Never book a hotel above 140 euros a night.", "How much may a hotel night cost at most?"),
        Rule("Do not call the warehouse on Fridays.", "On which day must the warehouse not be called?"),
        Rule("You must write amounts with two decimals.", "How are amounts written?"),
        Rule("Never share my phone number with suppliers.", "What must suppliers not be told about me?"),
        Rule("Only use the staging cluster for load tests.", "Where may load tests run?"),
        Rule("Do not merge anything after 16:00.", "Until what time may things be merged?"),
    ),
    small_talk=(
        "Thanks, that was quick!",
        "Haha, good one.",
        "What a grey morning.",
        "I slept badly, the neighbours had a party.",
        "Tell me a joke about penguins.",
        "Hm, let me think about it.",
        "The soup at lunch was far too salty.",
        "Never mind, found it myself.",
        "I wish it were already the weekend.",
        "Can you believe how loud that drill is?",
    ),
    openers=("", "", "By the way: ", "Before I forget: ", "One more thing. ", "Please note: "),
)
