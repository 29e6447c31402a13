// ProgramKernel: a kernel as the program defines it, and what runs it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/audit/meaning/kernel_machine.h"

namespace kerf::inline audit {

struct ProgramKernel {
  bool isTriton = false;
  std::string name;
  const SyntaxNode* text = nullptr;
  std::unique_ptr<KernelMachine> machine;  ///< made at its first call
};

/// By the names under which the program calls them.
std::map<std::string, ProgramKernel, std::less<>> kernelTexts(const SyntaxNode& module);

}  // namespace kerf::inline audit
