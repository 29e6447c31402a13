#include "engine/audit/program/output_program.h"

#include <utility>

namespace kerf::inline audit {
namespace {

/// The one call of `value` that defines a kernel: async_compile.triton(name, text), async_compile.cpp_pybinding(types, text).
void addKernel(OutputProgram& program, const std::string& name, const SyntaxNode& value, int line) {
  const std::string callee = value.callee();
  if (!callee.starts_with("async_compile.") || value.argumentCount() < 2 || !value.argument(1).is(SyntaxKind::Text))
    return;
  const SyntaxNode& text = value.argument(1);
  KernelModel model;
  if (callee == "async_compile.triton")
    model = readTritonKernel(value.argument(0).is(SyntaxKind::Text) ? value.argument(0).text : name, text.text);
  else if (callee == "async_compile.cpp_pybinding" || callee == "async_compile.cpp")
    model = readCppKernel(name, text.text);
  else
    model.opaque = "it is of another language";
  model.name = name;
  model.firstLine = text.line - 1;
  model.line = model.line > 0 ? model.line + model.firstLine : line;
  program.kernels.insert_or_assign(name, std::move(model));
}

void collect(OutputProgram& program, const SyntaxNode& block, bool isModule) {
  for (const SyntaxNode& node : block.items) {
    if (node.is(SyntaxKind::Define)) program.functions.insert_or_assign(node.text, &node);
    if (node.is(SyntaxKind::Class) && !node.items.empty()) collect(program, node.items[0], false);
    if (!node.is(SyntaxKind::Assign) || !node.items[0].is(SyntaxKind::Name)) continue;
    if (isModule) program.globals.insert(node.items[0].text);
    addKernel(program, node.items[0].text, node.items[1], node.line);
    if (node.items[1].callee() == "Runner")
      if (const SyntaxNode* const parts = node.items[1].keyword("partitions"))
        for (const SyntaxNode& each : parts->items) program.partitions.push_back(each.text);
  }
}

void collectExamples(OutputProgram& program, const SyntaxNode& block) {
  for (const SyntaxNode& node : block.items) {
    if (!node.is(SyntaxKind::Assign) || !node.items[0].is(SyntaxKind::Name)) continue;
    const SyntaxNode& value = node.items[1];
    ExampleInput example;
    example.number = value.integer();
    if (value.callee() == "rand_strided" && value.argumentCount() >= 2) {
      example.sizes = &value.argument(0);
      example.strides = &value.argument(1);
      if (const SyntaxNode* const type = value.keyword("dtype")) example.type = elementType(type->dotted());
    } else if (!example.number) {
      continue;
    }
    program.examples.insert_or_assign(node.items[0].text, std::move(example));
  }
}

}  // namespace

OutputProgram readOutputProgram(std::string_view text, const SyntaxLimits& limits) {
  OutputProgram program;
  program.module = readPython(text, limits);
  collect(program, program.module, true);
  const auto call = program.functions.find("call");
  if (call != program.functions.end() && call->second->items.size() >= 2) program.call = call->second;
  for (const char* const name : {"get_args", "benchmark_compiled_module"})
    if (const auto found = program.functions.find(name);
        found != program.functions.end() && found->second->items.size() >= 2)
      collectExamples(program, found->second->items[1]);
  return program;
}

}  // namespace kerf::inline audit
