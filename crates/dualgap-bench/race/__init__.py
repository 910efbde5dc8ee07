"""The linear race: dualgap beside scikit-learn, LIBLINEAR, celer and skglm on the same problems, in one table.

`make race DATA=DIR` makes the environment and runs everything; docs/race.md says what is measured and has the table.

| file | |
| --- | --- |
| sets.py | the data sets, read or generated |
| problems.py | the problems, and the value of weights |
| peers.py | the other programs |
| ours.py | dualgap, by its command line |
| climb.py | a peer in a process of its own, up a ladder of tolerances |
| judge.py | who was near the optimum, and when |
| records.py | one line of JSON for each program and problem, kept as soon as it is measured |
| rows.py | what the records of one problem say: the fastest, the ratio, where the seconds went |
| table.py | docs/race.md: its tables, some of them in files of their own |
| behind.py | rows that are behind, unsolved or not measured |
| threads.py, passes.py, defaults.py | several threads, a pass beside LIBLINEAR's, defaults |
| layout.py | how numbers and tables look |
| figures.py | race.json, and which peers a race with `--near` runs |
| __main__.py | the race |
"""
