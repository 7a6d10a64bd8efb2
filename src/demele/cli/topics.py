"""``demele help``: what several commands share."""

from demele.cli.engine import Command
from demele.core.names import checked_name

TOPICS = {
    "files": """\
Files hold the same rows in the same order: .npy, .npz, .csv, .tsv, .parquet, .json or .jsonl.

  FILE::name       an array of an .npz, a column of a table
  FILE::a,b        several columns; all arguments may be the same file
  FILE::"a,b",c    a name with commas stands between double quotes, as in CSV
  FOLDER           all .parquet files of a folder, or all logs of language models in it
  -  and  -::a,b   standard input, with --input-format csv|tsv|json|npy|npz|parquet
  FILE.py::name    a function, metric or scenario of a Python file

Rows of tables are paired by position; --id COLUMN joins predictions by a column. Logs of lm-evaluation-harness
(samples_*.jsonl) and Inspect (.eval) bring their labels and are joined by their questions. Folders, and files of over
4 GiB (.npy, .parquet), are read a piece at a time. --decimal , reads numbers such as 0,5. --max-size 8G lets a
compressed file take more memory. demele doctor FILE says what a file holds, and which commands can use it.
""",
    "noise": """\
What is known of wrong labels decides which conclusions hold.

  --noise 0.03       at most 3% of the labels are wrong, in the worst case
  --noise FILE       a noise transition matrix: a row per true class, a column per given class; probabilities, or
                     counts of a random sample. Names of classes may stand in the first line and column
  --audit FILE       expert labels of some rows: columns row (from 0) and true_label; demele audit draw draws them.
                     A second --audit adds rows drawn where the classifiers disagree
  --true-labels FILE true labels of all rows

demele audit plan says how many rows an audit needs. demele score takes --factor-noise FACTOR=RATE|FILE.
""",
    "output": """\
Standard output is a table; --format json or csv prints that instead. -o FILE also writes a file; its suffix says what:

  .html   interactive page        .json   everything          .csv   table of numbers
  .tex    table for LaTeX         .md     table for Markdown  .txt   the table of the terminal
  .svg, .png, .pdf                the first figure, with matplotlib
  NAME.methods.md|.tex|.txt       a paragraph for the section on methods, with citations

-o may be repeated. Files that exist are replaced with --force only. --explain prints all sentences, assumptions and
notes. --fail-unless candidate, or NAME>=X, or NAME<=X, ends with 1 if the result is different.

Exit status: 0 done; 1 --fail-unless not met, or demele judge does not show what it is asked (its gate, or that one of
two systems is better), whatever --fail-unless says; 2 a mistake in the arguments or the data; 130 interrupted.
""",
}


def topic(name: str = "") -> str:
    """Explain what several commands share."""
    if not name:
        return f"Topics: {', '.join(TOPICS)}. demele help TOPIC explains one, demele COMMAND -h a command.\n"
    return TOPICS[checked_name(name, "TOPIC", TOPICS)]


HELP = Command({"": topic}, (f"[{'|'.join(TOPICS)}]",), without="name")
