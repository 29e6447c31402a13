#include "engine/codegen_llvm/jit_session.h"

#include <llvm/ExecutionEngine/JITLink/EHFrameSupport.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <mutex>
#include <set>

#include "engine/codegen_llvm/runtime_symbols.h"
#include "engine/codegen_llvm/vector_functions.h"

namespace kerf::inline codegen_llvm {
namespace {

using namespace llvm;

/// Symbols in sorted order: ORC keeps them in hash tables.
using SymbolNames = std::set<std::string>;

void addNames(const orc::SymbolNameSet& symbols, SymbolNames& names) {
  for (const auto& symbol : symbols) names.insert((*symbol).str());
}

/// What ORC says is wrong, taken apart so that the text of one failure is always the same.
struct LinkFailure {
  SymbolNames missing;   ///< what code calls and nobody defines
  SymbolNames unlinked;  ///< functions that could not be linked for that
  std::set<std::string> others;

  void add(llvm::Error error) {
    handleAllErrors(
        std::move(error),
        [&](const orc::SymbolsNotFound& e) {
          for (const auto& symbol : e.getSymbols()) missing.insert((*symbol).str());
        },
        [&](const orc::FailedToMaterialize& e) {
          for (const auto& [library, symbols] : e.getSymbols()) addNames(symbols, unlinked);
        },
        [&](const ErrorInfoBase& e) { others.insert(e.message()); });
  }
  bool empty() const { return missing.empty() && unlinked.empty() && others.empty(); }

  /// The causes where they are known, else what suffered.
  std::string text() const {
    if (!missing.empty()) return fmt::format("generated code calls what is not there: {}", fmt::join(missing, ", "));
    if (!others.empty()) return fmt::format("{}", fmt::join(others, "; "));
    return fmt::format("could not link {}", fmt::join(unlinked, ", "));
  }
};

std::unexpected<Error> failed(llvm::Error error) {
  return fail(ErrorCode::CompileFailed, "LLVM ORC: {}", toString(std::move(error)));
}

}  // namespace

/// JITLink lays an object's code and constants out in one piece of memory. RuntimeDyld maps them one by one, and where
/// gigabytes of tensors lie between them the code reads other constants: it does not check its 32-bit distances.
struct JitSession::Parts {
  explicit Parts(std::unique_ptr<orc::ExecutorProcessControl> control) : session(std::move(control)), linker(session) {
    linker.addPlugin(std::make_unique<orc::EHFrameRegistrationPlugin>(
        session, std::make_unique<jitlink::InProcessEHFrameRegistrar>()));
    session.setErrorReporter([this](llvm::Error error) {
      const std::lock_guard lock(mutex);
      failure.add(std::move(error));
    });
  }
  ~Parts() {
    if (auto error = session.endSession()) consumeError(std::move(error));
  }
  /// The error of a look-up and what was reported before it.
  std::unexpected<kerf::Error> failed(llvm::Error error) {
    const std::lock_guard lock(mutex);
    failure.add(std::move(error));
    return fail(ErrorCode::CompileFailed, "LLVM ORC: {}", std::exchange(failure, {}).text());
  }

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer linker;
  orc::JITDylib* library = nullptr;
  std::mutex mutex;
  LinkFailure failure;
};

JitSession::JitSession(std::unique_ptr<Parts> parts) : m_parts(std::move(parts)) {}
JitSession::~JitSession() = default;

Result<std::shared_ptr<JitSession>> JitSession::create() {
  auto control = orc::SelfExecutorProcessControl::Create();
  if (!control) return failed(control.takeError());
  auto parts = std::make_unique<Parts>(std::move(*control));
  auto library = parts->session.createJITDylib("kerf");
  if (!library) return failed(library.takeError());
  parts->library = &*library;
  orc::SymbolMap map;
  for (const RuntimeSymbol& symbol : runtimeSymbols())
    map[parts->session.intern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                               JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  for (const VectorForm& form : vectorForms())
    map[parts->session.intern(form.symbol)] = {orc::ExecutorAddr::fromPtr(form.address),
                                               JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (auto error = parts->library->define(orc::absoluteSymbols(std::move(map)))) return failed(std::move(error));
  // Whatever else of the C library a newer LLVM makes of the code is found where this program finds it.
  const char prefix = 0;
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process) return failed(process.takeError());
  parts->library->addGenerator(std::move(*process));
  return std::shared_ptr<JitSession>(new JitSession(std::move(parts)));
}

Result<void> JitSession::add(std::unique_ptr<MemoryBuffer> object) {
  if (auto error = m_parts->linker.add(*m_parts->library, std::move(object))) return m_parts->failed(std::move(error));
  return {};
}

Result<void*> JitSession::lookup(const std::string& name) {
  auto found = m_parts->session.lookup({m_parts->library}, m_parts->session.intern(name));
  if (!found) return m_parts->failed(found.takeError());
  return found->getAddress().toPtr<void*>();
}

}  // namespace kerf::inline codegen_llvm
