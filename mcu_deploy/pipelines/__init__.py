"""Pipelines: what a user's repository says of its models, what they cost, and how that changed.

`mcu_deploy.api.pipelines` does the work that `configuration` asks for; `table` is the file that
keeps the numbers, `comparing` and `markdown` say what changed, `first` writes the files of a
pipeline for one of the `providers`.
"""
