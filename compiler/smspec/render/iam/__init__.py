"""Least-privilege IAM policies for a job and for its submitter, made from the request.

`role_policy` allows what SageMaker and the container do for the job, `submitter_policy` what its submitter does. Both
return a `Rendering`: the policy, and notes on what a policy cannot express. Calls of AWS that a script makes are read
from its text (`smspec.script`), with those that nothing visible makes, since a missing permission ends a job. The
package must not call AWS.
"""
