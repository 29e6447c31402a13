// JitSession: links object code into this process with LLVM ORC and finds its functions.
#pragma once

#include <llvm/Support/MemoryBuffer.h>

#include "engine/codegen_llvm/kernel_compiler.h"

namespace kerf::inline codegen_llvm {

class JitSession : public MachineCode {
 public:
  /// CompileFailed when ORC cannot set itself up.
  static Result<std::shared_ptr<JitSession>> create();
  ~JitSession() override;

  Result<void> add(std::unique_ptr<llvm::MemoryBuffer> object);
  /// Address of a function; links what was added. CompileFailed naming what is missing.
  Result<void*> lookup(const std::string& name);

 private:
  struct Parts;
  explicit JitSession(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> m_parts;
};

}  // namespace kerf::inline codegen_llvm
