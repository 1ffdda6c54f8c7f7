"""The hunt: random `.pto` texts with flags, barriers, buffers and pipes, and what runs show of them, held against what
EVENT, RACE and FIFO say.

    nodes, writer       a program as a tree of statements, and its text
    draw                choices that all generators make
    one_core, orders, rings, cube_core      texts for one core
    two_cores, turns, fifo, blocks  texts for a cube and its vector cores, and for the blocks of a launch
    kinds               all of them, and how their texts are launched
    mutations, shrink   one thing wrong in a text; the smallest text that still shows a failure
    judge, notes        what the rules say of a text, what runs show, and where the two do not fit
    campaign            all of it for a number of seeds
    faults              faults of the rules, to see that it finds what they let through
    features            which features texts have, so that a test can ask for a share of each
"""
