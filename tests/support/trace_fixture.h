// A small TORCH_TRACE log for tests: compile [0/0] with a symbolic graph, output code and events; [1/0], which failed.
#pragma once

namespace kerf::cli {

inline constexpr const char* traceFixture =
    R"trace(V1121 10:00:01.000000 77 torch/_logging/structured.py:28] {"str": ["/home/user/model.py", 0], "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:01.100000 77 torch/_dynamo/convert_frame.py:276] {"dynamo_start": {"stack": [{"line": 12, "name": "forward", "filename": 0, "loc": "return relu(x)"}]}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:01.150000 77 torch/_dynamo/utils.py:2126] {"chromium_event": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "087ee9f091e08b27ea7dedb6d25dba4a"}
	{"name": "entire_frame_compile", "ts": 1795000000000000.0, "args": {"compile_id": "0/0"}, "ph": "B", "cat": "dynamo_timed", "tid": 0, "pid": 0}
V1121 10:00:01.160000 77 torch/_dynamo/utils.py:2126] {"chromium_event": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "527c2fe7fd31b9a0d9dea0ca4cdfb6bb"}
	{"name": "backend_compile", "ts": 1795000000001000.0, "args": {"compile_id": "0/0"}, "ph": "B", "cat": "dynamo_timed", "tid": 0, "pid": 0}
V1121 10:00:01.200000 77 torch/_functorch/_aot_autograd/graph_compile.py:225] {"aot_forward_graph": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "249b17c1a0b784efc11251409203755a"}
	class GraphModule(torch.nn.Module):
	    def forward(
	        self,
	        primals_1: "Sym(s0)",  # PlainAOTInput(idx=0)
	        primals_2: "f32[s0, 4][4, 1]cpu",  # PlainAOTInput(idx=1)
	    ):
	        # No stacktrace found for following nodes
	        relu: "f32[s0, 4][4, 1]cpu" = torch.ops.aten.relu.default(primals_2);  primals_2 = None
	        mul: "f32[s0, 4][4, 1]cpu" = torch.ops.aten.mul.Tensor(relu, primals_1);  relu = primals_1 = None
	        return (mul,)
	        
V1121 10:00:01.300000 77 torch/_inductor/graph.py:2575] {"inductor_output_code": {"filename": "/tmp/x/cabc.py", "file_path": "/tmp/x/cabc.py"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "1840c4611892ea18253cb36e5cb58987"}
	# AOT ID: ['0_inference']
	import torch
	def call(args):
	    return args
	
V1121 10:00:01.350000 77 torch/_dynamo/utils.py:2126] {"chromium_event": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "4d2e0963fa0ad8c7c3a09bfe523529bc"}
	{"name": "backend_compile", "ts": 1795000000003000.0, "args": {"compile_id": "0/0"}, "ph": "E", "cat": "dynamo_timed", "tid": 0, "pid": 0}
V1121 10:00:01.360000 77 torch/_dynamo/utils.py:2126] {"chromium_event": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "67f990b62d8fc60293351f3b609bda00"}
	{"name": "entire_frame_compile", "ts": 1795000000005000.0, "args": {"compile_id": "0/0"}, "ph": "E", "cat": "dynamo_timed", "tid": 0, "pid": 0}
V1121 10:00:01.400000 77 torch/_dynamo/utils.py:1796] {"compilation_metrics": {"compile_id": "0/0", "co_name": "forward", "co_filename": "/home/user/model.py", "entire_frame_compile_time_s": 0.25, "fail_type": null, "fail_reason": null, "graph_op_count": 2}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:02.000000 77 torch/_dynamo/convert_frame.py:276] {"dynamo_start": {"stack": [{"line": 20, "name": "tail", "filename": 0, "loc": "return sin(x)"}]}, "frame_id": 1, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:02.100000 77 torch/_functorch/_aot_autograd/graph_compile.py:225] {"aot_inference_graph": {}, "frame_id": 1, "frame_compile_id": 0, "attempt": 0, "has_payload": "33bb72d7d2534f662055585ffbce82dd"}
	class <lambda>(torch.nn.Module):
	    def forward(self, arg0_1: "f32[2, 4][4, 1]cpu"):
	        # No stacktrace found for following nodes
	        sin: "f32[2, 4][4, 1]cpu" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None
	        return (sin,)
	        
V1121 10:00:02.200000 77 torch/_dynamo/utils.py:1796] {"compilation_metrics": {"compile_id": "1/0", "co_name": "tail", "co_filename": "/home/user/model.py", "entire_frame_compile_time_s": 0.5, "fail_type": "BackendCompilerFailed", "fail_reason": "no kernel"}, "frame_id": 1, "frame_compile_id": 0, "attempt": 0}
)trace";

}  // namespace kerf::cli
