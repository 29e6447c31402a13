#include "engine/audit/meaning/kernel_texts.h"

namespace kerf::inline audit {

std::map<std::string, ProgramKernel, std::less<>> kernelTexts(const SyntaxNode& module) {
  std::map<std::string, ProgramKernel, std::less<>> kernels;
  for (const SyntaxNode& node : module.items) {
    if (!node.is(SyntaxKind::Assign) || !node.items[0].is(SyntaxKind::Name)) continue;
    const SyntaxNode& value = node.items[1];
    const std::string callee = value.callee();
    if (!callee.starts_with("async_compile.") || value.argumentCount() < 2 || !value.argument(1).is(SyntaxKind::Text))
      continue;
    ProgramKernel kernel;
    kernel.isTriton = callee == "async_compile.triton";
    kernel.name = value.argument(0).is(SyntaxKind::Text) ? value.argument(0).text : node.items[0].text;
    kernel.text = &value.argument(1);
    kernels.insert_or_assign(node.items[0].text, std::move(kernel));
  }
  return kernels;
}

}  // namespace kerf::inline audit
