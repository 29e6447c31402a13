// Graphs whose every step is a loop kernel, as CUDA C++ on the CPU.
#pragma once

#include "engine/lower/lowered_graph.h"
#include "tests/support/compiled_fixture.h"
#include "tests/support/cuda_on_host.h"

namespace kerf::testing_support {

/// Memory of each buffer of a lowered graph: inputs and what kernels write.
inline Result<std::vector<HostMemory>> memoryOf(const LoweredGraph& graph, const ValueList& inputs,
                                                std::vector<std::vector<unsigned char>>& owned) {
  std::vector<HostMemory> memory;
  std::size_t next = 0;
  owned.reserve(graph.buffers.buffers().size());
  for (const BufferInfo& buffer : graph.buffers.buffers()) {
    if (buffer.kind == BufferKind::Input) {
      const Tensor& tensor = inputs[next++].tensor();
      memory.emplace_back(tensor.storage()->data(), std::size_t(tensor.byteSize()));
    } else if (buffer.kind == BufferKind::Planned || buffer.kind == BufferKind::Owned) {
      memory.emplace_back(owned.emplace_back(std::size_t(buffer.bytes.bits()), 0xee));
    } else {
      return fail(ErrorCode::UnsupportedOp, "a buffer of another kind: {}", buffer.name);
    }
  }
  return memory;
}

inline Result<void> runStep(const LoweredStep& step, const std::vector<HostMemory>& memory) {
  if (step.isExtern) return fail(ErrorCode::UnsupportedOp, "a step is no loop");
  KERF_TRY(const CudaKernel kernel, generateKernel(step.kernel, {"graph"}));
  KERF_TRY(CudaOnHost host, CudaOnHost::compile(kernel, step.kernel));
  std::vector<HostMemory> buffers;
  for (std::size_t b = 0; b < step.arguments.size(); ++b) {
    const auto offset = std::size_t(step.arguments[b].offset.bits() * itemSize(step.kernel.buffers[b].dtype));
    buffers.emplace_back(memory[std::size_t(step.arguments[b].buffer)].all().subspan(offset));
  }
  host.run(std::move(buffers), int(kernel.shape.blocks({}, 5)));
  return {};
}

/// The graph's outputs.
inline Result<ValueList> runOnHost(const GraphModule& module, const ValueList& inputs) {
  KERF_TRY(ValueTable table, classifyValues(module));
  KERF_TRY(const LoweredGraph graph, scheduleGraph(std::make_shared<const ValueTable>(std::move(table)), true));
  std::vector<std::vector<unsigned char>> owned;
  KERF_TRY(const std::vector<HostMemory> memory, memoryOf(graph, inputs, owned));
  for (const LoweredStep& step : graph.steps) KERF_CHECK(runStep(step, memory));
  ValueList outputs;
  for (const Argument& item : module.graph.node(module.graph.outputNode()).args()[0].asList()->items) {
    const BufferView& view = *graph.buffers.view(*item.as<NodeId>());
    Sizes sizes;
    for (const SymInt size : view.sizes) sizes.push_back(size.bits());
    KERF_TRY(Tensor tensor, Tensor::zeros(graph.buffers.buffers()[std::size_t(view.buffer)].dtype, sizes));
    std::memcpy(tensor.storage()->data(), memory[std::size_t(view.buffer)].place, std::size_t(tensor.byteSize()));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

/// Of both zeros the same, and NaN where the other is.
inline void expectSameValues(const Tensor& expected, const Tensor& given, const std::string& what) {
  ASSERT_EQ(expected.dtype(), given.dtype()) << what;
  ASSERT_EQ(expected.sizes(), given.sizes()) << what;
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    const double a = expected.itemAsDouble(i), b = given.itemAsDouble(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    ASSERT_TRUE(a == b && std::signbit(a) == std::signbit(b)) << what << " element " << i << ": " << a << " and " << b;
  }
}

/// `calls` of inputs that are named in `types`, as one graph: by the device's loops and by the interpreter.
inline void expectGraphLikeInterpreter(const std::string& types, const std::vector<std::string>& calls,
                                       const ValueList& inputs) {
  std::string text = "def forward(self, " + types + "):\n", names;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    text += fmt::format("    a{} = {}\n", c, calls[c]);
    if (calls[c].find(".dim(") == std::string::npos) names += fmt::format("a{}, ", c);
  }
  text += "    return (" + names + ")\n";
  SCOPED_TRACE(text);
  const GraphModule module = parsed(text.c_str());
  const auto wanted = Interpreter(module, referenceOps()).run(inputs);
  ASSERT_TRUE(wanted) << wanted.error().text();
  const auto given = runOnHost(module, inputs);
  ASSERT_TRUE(given) << given.error().text();
  const ValueList expected = partsOf(*wanted);
  ASSERT_EQ(expected.size(), given->size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(expectSameValues(expected[i].tensor(), (*given)[i].tensor(), fmt::format("output {}", i)));
}

}  // namespace kerf::testing_support
