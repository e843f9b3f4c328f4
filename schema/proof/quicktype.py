"""Reads the values of a file with the classes that quicktype made.

usage: quicktype.py GENERATED CASES; prints the same report as the Go program.
"""
import importlib.util
import json
import re
import sys

spec = importlib.util.spec_from_file_location("generated", sys.argv[1])
generated = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generated)
plain = lambda name: re.sub("[^a-z0-9]", "", name.lower())
readers = {plain(n[: -len("_from_dict")]): getattr(generated, n) for n in dir(generated) if n.endswith("_from_dict")}
writers = {plain(n[: -len("_to_dict")]): getattr(generated, n) for n in dir(generated) if n.endswith("_to_dict")}

with open(sys.argv[2], encoding="utf-8") as f:
    cases = json.load(f)["cases"]
wrong, same = [], 0
for case in cases:
    key = plain(case["schema"])
    try:
        value = readers[key](case["value"])
        same += writers[key](value) == case["value"]
    except Exception as e:  # a report, not a crash: each case counts
        wrong.append(f"{case['name']}: {case['schema']}: {e!r}")
print(json.dumps({"cases": len(cases), "same": same, "wrong": wrong}))
