"""Read the language of Terraform (HCL): the values that a file contains, and variables for all others.

https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md
"""
