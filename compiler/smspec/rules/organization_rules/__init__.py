"""The rules that an organization writes as files: conditions on paths of the merged spec."""
