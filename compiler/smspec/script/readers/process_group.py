"""PyTorch's `init_process_group`, which reads missing arguments from the environment."""

from __future__ import annotations

from smspec.script.call import Call
from smspec.script.program import ProcessGroup
from smspec.script.values import Value, text

# Position and name of the arguments of `init_process_group`.
_METHOD, _WORLD_SIZE, _RANK, _STORE = (1, "init_method"), (3, "world_size"), (4, "rank"), (5, "store")


def _init(call: Call) -> Value:
    method = call.argument(*_METHOD)
    is_from_environment = method is None or text(method) == "env://"
    is_set = any(map(call.run.may_have_set, ("RANK", "WORLD_SIZE")))
    if call.is_whole and call.is_certain and not is_set and is_from_environment and call.argument(*_STORE) is None:
        variables = ["MASTER_ADDR", "MASTER_PORT"]
        variables += ["WORLD_SIZE"] if call.argument(*_WORLD_SIZE) is None else []
        variables += ["RANK"] if call.argument(*_RANK) is None else []
        call.run.process_groups.append(ProcessGroup(variables=tuple(variables), place=call.place))
    return call.unknown_result()


HANDLERS = {
    "torch.distributed.init_process_group": _init,
    "torch.distributed.distributed_c10d.init_process_group": _init,
}
