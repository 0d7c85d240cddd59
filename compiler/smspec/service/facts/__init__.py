"""Dated facts about AWS that no API of a job returns: its images, accounts, and what they contain.

Each table is a CSV file of this package: one row per fact, so that a refresh is reviewed as a diff. Its first line has
its date and its sources. A module of this package reads one table, when a job first needs it. An empty cell is unknown.
A finding from a table whose facts change over time is a warning that names the date of the table.
"""
