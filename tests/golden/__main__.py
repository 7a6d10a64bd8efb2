"""``python -m tests.golden --check [PATTERN]``: what differs from the kept outcomes; ``--write`` keeps new ones."""

import argparse
import sys
import time

from tests.golden.groups import GROUPS
from tests.golden.kept import differences, why_not, write


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="part of a case's name, such as rows/mixed or /mig")
    parser.add_argument("--check", action="store_true", help="the default")
    parser.add_argument("--write", action="store_true", help="only with the code of before the rebuilding")
    parser.add_argument("--list", action="store_true", help="the groups")
    given = parser.parse_args()
    if given.list:
        print("\n".join(f"{name}{' (slow)' if group.heavy else ''}" for name, group in GROUPS.items()))
        return 0
    if given.write:
        write(given.pattern)
        return 0
    reason = why_not()
    if reason:
        print(reason)
        return 1
    found = 0
    for name in GROUPS:
        first = given.pattern.split("/")[0]
        if first in GROUPS and first != name:
            continue
        start = time.process_time()
        for line in differences(name, given.pattern):
            found += 1
            print(line)
        print(f"{name}: {time.process_time() - start:.1f} s", file=sys.stderr)
    print(f"{found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
