from sagemaker.debugger import (
    CollectionConfig,
    DebuggerHookConfig,
    FrameworkProfile,
    ProfilerConfig,
    ProfilerRule,
    Rule,
    rule_configs,
)
from sagemaker.pytorch import PyTorch

shared = dict(
    role="arn:aws:iam::111122223333:role/SageMakerTraining",
    instance_count=2,
    instance_type="ml.p4d.24xlarge",
    output_path="s3://example-models/",
    image_uri=None,
)

PyTorch(
    entry_point="train.py",
    framework_version="2.3.0",
    py_version="py311",
    base_job_name="watched",
    rules=[
        Rule.sagemaker(rule_configs.vanishing_gradient()),
        Rule.sagemaker(base_config=rule_configs.overfit(), rule_parameters={"ratio_threshold": "0.2"}),
        Rule.custom(
            name="accuracy",
            image_uri="111122223333.dkr.ecr.us-west-2.amazonaws.com/rules:1",
            instance_type="ml.t3.medium",
            volume_size_in_gb=10,
            source="s3://example-models/rules/accuracy.py",
            rule_to_invoke="Accuracy",
        ),
        ProfilerRule.sagemaker(rule_configs.LowGPUUtilization()),
    ],
    debugger_hook_config=DebuggerHookConfig(collection_configs=[CollectionConfig(name="weights")]),
    profiler_config=ProfilerConfig(
        system_monitor_interval_millis=500, framework_profile_params=FrameworkProfile(num_steps=10)
    ),
    **shared,
).fit()

parallel = {"enabled": True, "parameters": {"hybrid_shard_degree": 16}}
PyTorch(
    entry_point="train.py",
    source_dir="sharded",
    framework_version="2.3.1",
    py_version="py311",
    base_job_name="sharded",
    distribution={"torch_distributed": {"enabled": True}, "smdistributed": {"modelparallel": parallel}},
    **shared,
).fit()
