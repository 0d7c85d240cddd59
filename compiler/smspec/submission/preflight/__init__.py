"""What only AWS knows about a job, before anything is created: a row for each thing, ok, wrong, or not checked.

A `Question` calls AWS and returns an `Answer`: a `Row`, or several, and the questions that follow from them. All are
asked at once, within a time limit. What may not be asked, for lack of a permission, is not checked and never wrong. A
question reads and changes nothing, so it can always be repeated.
"""
