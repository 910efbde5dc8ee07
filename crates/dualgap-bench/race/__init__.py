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
| table.py | the tables of docs/race.md |
| __main__.py | the race |
"""
