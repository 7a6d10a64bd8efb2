"""``demele doctor``: what files hold, and which commands can use them."""

from demele.cli.engine import Command
from demele.doctor import doctor

DOCTOR = Command(
    {"": doctor},
    ("FILE...",),
    lambda given: given.bind(doctor, given.files),
    without="files",
    called={"files": "FILE"},
    details="""\
Tables, arrays, logs and results of evaluations, audits, sheets, fabrics, Python files, or folders of logs. Nothing in
them is run. A file that is broken is refused with the reason.
""",
    examples="demele doctor results.json\ndemele doctor codes.npz labels.csv --format json\n",
)
