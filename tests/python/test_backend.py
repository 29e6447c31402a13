"""Graphs in Kerf's process over shared memory; the backend of torch.compile where there is torch."""
import mmap
import os
import struct
import unittest

from . import package
from kerf.backend import worker as workers

PROGRAM = os.environ.get("KERF_PROGRAM", "") or os.path.join(package.ROOT, "build", "bin", "kerf")

try:
    import torch

    torch.tensor  # a folder of that name is no torch
except (ImportError, AttributeError):
    torch = None

TEXT = """class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[3]", b: "f32[3]"):
        add: "f32[3]" = torch.ops.aten.add.Tensor(a, b);  a = b = None
        mul: "f32[3]" = torch.ops.aten.mul.Tensor(add, 2);  add = None
        return (mul,)
"""


@unittest.skipUnless(os.access(PROGRAM, os.X_OK), "kerf is not built")
class WorkerTest(unittest.TestCase):
    def setUp(self):
        before = os.environ.get("KERF_PROGRAM")
        os.environ["KERF_PROGRAM"] = PROGRAM
        self.addCleanup(lambda: os.environ.pop("KERF_PROGRAM") if before is None else os.environ.update(KERF_PROGRAM=before))
        self.worker = workers.Worker()
        self.addCleanup(self.worker.end)
        self.file = os.memfd_create("kerf")
        self.addCleanup(os.close, self.file)
        os.ftruncate(self.file, 256)
        self.map = mmap.mmap(self.file, 256)

    def message(self, **changes):
        place = {"dtype": "torch.float32", "sizes": [3], "strides": [1]}
        return dict({"compile": TEXT, "bytes": 256, "inputs": [dict(place, offset=0), dict(place, offset=64)],
                     "outputs": [{"offset": 128, "bytes": 12}]}, **changes)

    def test_calls_see_what_lies_in_the_memory_now(self):
        graph = self.worker.ask(self.message(), self.file)["graph"]
        for first in (1.0, 10.0):
            self.map[0:12], self.map[64:76] = struct.pack("3f", first, 2, 3), struct.pack("3f", 4, 5, 6)
            told = self.worker.ask({"call": graph})
            self.assertEqual(told["outputs"], [{"dtype": "torch.float32", "sizes": [3], "strides": [1]}])
            self.assertEqual(struct.unpack("3f", self.map[128:140]), (2 * (first + 4), 14, 18))

    def test_memory_of_a_device_that_nobody_shares_is_refused(self):
        for handle in ("", "zz" * 64, "00" * 63):
            with self.assertRaisesRegex(workers.KerfError, "no memory of a CUDA device"):
                self.worker.ask(self.message(device={"handle": handle}))
        self.assertIn("graph", self.worker.ask(self.message(), self.file))

    def test_calls_by_the_mailbox_give_the_same(self):
        import ctypes

        if self.worker.mailbox is None:
            self.skipTest("libkerf_call.so is not built")
        memory = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        places, sizes = (ctypes.c_int64 * 2)(0, 64), (ctypes.c_int64 * 2)(12, 12)

        def call(graph, *inputs):
            held = [ctypes.create_string_buffer(struct.pack("3f", *values)) for values in inputs]
            sources = (ctypes.c_void_p * 2)(*[ctypes.addressof(b) for b in held])
            return self.worker.mailbox.call(graph, memory, 2, sources, places, sizes)

        graph = self.worker.ask(self.message(), self.file)["graph"]
        self.assertEqual(call(graph, (1, 2, 3), (4, 5, 6)), 1)  # nobody was told of its outputs yet
        self.worker.ask({"call": graph})
        for first in range(2000):
            self.assertEqual(call(graph, (first, 2, 3), (4, 5, 6)), workers.DONE)
            self.assertEqual(struct.unpack("3f", self.map[128:140]), (2 * (first + 4), 14, 18))
        self.assertEqual(call(graph + 1, (1, 2, 3), (4, 5, 6)), 1)
        self.worker.process.kill()
        with self.assertRaisesRegex(workers.KerfError, "code -9"):
            call(graph, (1, 2, 3), (4, 5, 6))

    def test_a_mailbox_that_slept_wakes_up(self):
        import ctypes
        import time

        if self.worker.mailbox is None:
            self.skipTest("libkerf_call.so is not built")
        memory = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        graph = self.worker.ask(self.message(), self.file)["graph"]
        self.worker.ask({"call": graph})
        nothing = (ctypes.c_int64 * 0)()
        for _ in range(5):
            time.sleep(0.02)
            self.assertEqual(self.worker.mailbox.call(graph, memory, 0, None, nothing, nothing), workers.DONE)

    def test_what_is_wrong_is_said_and_the_process_goes_on(self):
        outside = [{"dtype": "torch.float32", "sizes": [3], "strides": [1 << 40], "offset": 0}] * 2
        for message, words in ((self.message(inputs=outside), "outside"), (self.message(outputs=[]), "places"),
                               (self.message(outputs=[{"offset": 250, "bytes": 12}]), "outside"), (self.message(bytes=1 << 20), "shorter"),
                               (self.message(compile="no graph"), ""), ({"call": 7}, "no graph 7"), ({}, "nothing"), ([], ""),
                               (self.message(inputs=[{"dtype": "torch.float32"}] * 2), "")):
            with self.assertRaisesRegex(workers.KerfError, words):
                self.worker.ask(message, self.file)
        self.assertIn("aten.add.Tensor", self.worker.ops)
        self.assertNotIn("aten.bernoulli.default", self.worker.ops)
        self.assertTrue(self.worker.is_mine())

    def test_an_output_that_does_not_fit_is_refused(self):
        graph = self.worker.ask(self.message(outputs=[{"offset": 128, "bytes": 8}]), self.file)["graph"]
        with self.assertRaisesRegex(workers.KerfError, "8 bytes"):
            self.worker.ask({"call": graph})

    def test_graphs_are_freed_with_the_next_question(self):
        graph = self.worker.ask(self.message(), self.file)["graph"]
        self.worker.freed.append((graph, workers.Memory()))
        with self.assertRaisesRegex(workers.KerfError, "no graph"):
            self.worker.ask({"call": graph})

    @unittest.skipIf(torch is None, "there is no torch")
    def test_a_step_of_training_is_as_in_eager_mode(self):
        import copy

        from kerf.backend import kerf, report

        torch.manual_seed(0)
        before = report()
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 3))
        other, x = copy.deepcopy(model), torch.randn(4, 8)
        want, got = model(x), torch.compile(other, backend=kerf)(x)
        want.square().sum().backward(), got.square().sum().backward()
        torch.testing.assert_close(got, want)
        for one, two in zip(other.parameters(), model.parameters()):
            torch.testing.assert_close(one.grad, two.grad)
        nodes, in_kerf = (report()[name] - before[name] for name in ("nodes", "in_kerf"))
        self.assertGreater(nodes, 20)
        self.assertEqual(nodes, in_kerf, report()["reasons"])


    @unittest.skipIf(torch is None, "there is no torch")
    def test_inputs_lie_as_they_lie(self):
        from kerf.backend import kerf

        call = torch.compile(lambda a, b, c, d: (a + b, c * 2, d.sum()), backend=kerf)
        given = torch.ones(3).expand(2, 3), torch.arange(6.0).reshape(3, 2).t(), torch.arange(24.0).reshape(4, 6)[1:, ::2], torch.zeros(0, 3)
        torch.testing.assert_close(call(*given), (given[0] + given[1], given[2] * 2, given[3].sum()))


@unittest.skipUnless(torch is not None, "there is no PyTorch")
class CompiledModuleTest(unittest.TestCase):
    DEVICE = "cpu"

    def setUp(self):
        torch.manual_seed(0)
        torch._dynamo.reset()

    def compiled(self, function):
        from kerf import backend

        before = backend.report()["in_kerf"]
        self.in_kerf = lambda: backend.report()["in_kerf"] - before
        return torch.compile(function, backend=backend.kerf)

    def test_a_training_step_is_eagers(self):
        module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 4)).to(self.DEVICE)
        given = torch.randn(5, 8, device=self.DEVICE)
        found = []
        for call in (module, self.compiled(module)):
            for _ in range(3):
                module.zero_grad()
                result = call(given)
                result.square().mean().backward()
                found.append([result.detach().clone()] + [p.grad.clone() for p in module.parameters()])
        for step in found[3:]:
            for mine, theirs in zip(step, found[0]):
                torch.testing.assert_close(mine, theirs, rtol=2e-5, atol=2e-6)
        self.assertGreater(self.in_kerf(), 10)

    def test_other_sizes_views_and_dtypes(self):
        call = self.compiled(lambda x, y: (torch.relu(x).t() * 2, x.sum(), y + 1))
        for rows in (3, 5, 3):
            x = torch.randn(4, rows, device=self.DEVICE).t()
            y = torch.arange(rows, device=self.DEVICE).expand(2, rows)
            first, total, more = call(x, y)
            torch.testing.assert_close(first, torch.relu(x).t() * 2)
            torch.testing.assert_close(total, x.sum())
            torch.testing.assert_close(more, y + 1)
            self.assertEqual(first.device.type, self.DEVICE)
        self.assertGreater(self.in_kerf(), 2)

    def test_results_are_not_overwritten_by_the_next_call(self):
        call = self.compiled(lambda x: x * 3)
        results = [call(torch.full((1000,), float(i), device=self.DEVICE)) for i in range(20)]
        self.assertEqual([float(r[999]) for r in results], [3.0 * i for i in range(20)])


@unittest.skipUnless(torch is not None and torch.cuda.is_available(), "there is no GPU with PyTorch")
class CompiledOnDeviceTest(CompiledModuleTest):
    DEVICE = "cuda"

    def test_streams_of_the_caller_are_waited_for(self):
        call = self.compiled(lambda x: x + 1)
        call(torch.zeros(1 << 22, device="cuda"))
        for i in range(10):
            with torch.cuda.stream(torch.cuda.Stream()):
                x = torch.full((1 << 22,), float(i), device="cuda")
                result = call(x)
            torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
            torch.cuda.synchronize()
            self.assertEqual(float(result.min()), i + 1.0)

    def test_a_graph_of_both_devices_is_right(self):
        call = self.compiled(lambda x, y: (x * 2, y * 3))
        x, y = torch.ones(3, device="cuda"), torch.ones(3)
        first, second = call(x, y)
        self.assertEqual((first.device.type, second.device.type), ("cuda", "cpu"))
        self.assertEqual((first.tolist(), second.tolist()), ([2.0] * 3, [3.0] * 3))


class ProgramTest(unittest.TestCase):
    def test_without_the_program_it_is_said(self):
        from unittest import mock

        with mock.patch.dict(os.environ, {"KERF_PROGRAM": "/there/is/no/kerf"}):
            with self.assertRaisesRegex(workers.KerfError, "/there/is/no/kerf"):
                workers.Worker()
        with mock.patch.dict(os.environ, {"KERF_PROGRAM": "", "PATH": ""}), self.assertRaisesRegex(workers.KerfError, "wheel"):
            workers.program()


if __name__ == "__main__":
    unittest.main()
