import importlib

import torch
from torch._dynamo.testing import AotEagerAndRecordGraphs, normalize_gm
from torch.testing._internal.common_utils import TestCase, instantiate_parametrized_tests, parametrize


def test_names_are_where_posts_look_for_them():
    for name in ("export.exported_program.ExportedProgram", "export.graph_signature.InputKind", "export.dynamic_shapes.Dim",
                 "_decomp.core_aten_decompositions", "_dynamo.test_case.TestCase", "_inductor.test_case.run_tests",
                 "utils._triton.has_triton", "fx.experimental.symbolic_shapes.guard_int"):
        module, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module("torch." + module), last), name
    import functorch

    graph = functorch.make_fx(lambda x: x.t(), decomposition_table=torch._decomp.core_aten_decompositions())(torch.ones(2, 3))
    assert [str(n.target) for n in graph.graph.nodes if n.op == "call_function"] == ["aten.permute.default"]


def test_posted_test_cases_run():
    import unittest

    class Posted(TestCase):
        @parametrize("n", [1, 2])
        @parametrize("a,b", [(3.0, 3.0 + 1e-9)])
        def test_close(self, n, a, b):
            self.assertEqual(torch.full((n,), a), torch.full((n,), b))
            self.assertEqual([a], [b])

        def test_far(self):
            self.assertEqual(torch.zeros(2), torch.ones(2))

        def test_other(self):
            self.assertEqual("a", "b")

    instantiate_parametrized_tests(Posted)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Posted)
    result = unittest.TestResult()
    suite.run(result)
    assert result.testsRun == 4 and len(result.failures) == 2 and not result.errors, result
    failed = sorted(case.id().rpartition(".")[2] for case, _ in result.failures)
    assert failed == ["test_far", "test_other"], failed


def test_recording_backends_keep_graphs():
    backend, x = AotEagerAndRecordGraphs(), torch.zeros(2, requires_grad=True)
    gm = torch.fx.symbolic_trace(lambda x: (x.sin() * 2).sum())
    backend(gm, [x])(x).backward()
    assert x.grad.tolist() == [2.0, 2.0] and backend.graphs == [gm]
    assert len(backend.fw_graphs) == len(backend.bw_graphs) == 1
    assert normalize_gm("class M:\n\n    a = 1  # why\n") == "class M:\n    a = 1\n"
