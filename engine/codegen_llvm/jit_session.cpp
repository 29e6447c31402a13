#include "engine/codegen_llvm/jit_session.h"

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>

#include <cmath>
#include <cstring>

#include "engine/tensor/dtype.h"

namespace kerf::inline codegen_llvm {
namespace {

using namespace llvm;

float halfToFloat(std::uint16_t bits) {
  Half half;
  half.bits = bits;
  return half;
}
std::uint16_t floatToHalf(float value) { return Half(value).bits; }

struct Symbol {
  const char* name;
  void* address;
};

template <class R, class... A>
void* addressOf(R (*function)(A...)) {
  return reinterpret_cast<void*>(function);
}

using F1 = float (*)(float);
using D1 = double (*)(double);
using F2 = float (*)(float, float);
using D2 = double (*)(double, double);

#define KERF_MATH1(name) \
  {#name "f", addressOf(F1(::name##f))}, { #name, addressOf(D1(::name)) }
#define KERF_MATH2(name) \
  {#name "f", addressOf(F2(::name##f))}, { #name, addressOf(D2(::name)) }

/// Everything that generated code may call.
const Symbol symbols[] = {
    KERF_MATH1(exp),
    KERF_MATH1(exp2),
    KERF_MATH1(expm1),
    KERF_MATH1(log),
    KERF_MATH1(log2),
    KERF_MATH1(log10),
    KERF_MATH1(log1p),
    KERF_MATH1(sqrt),
    KERF_MATH1(sin),
    KERF_MATH1(cos),
    KERF_MATH1(tan),
    KERF_MATH1(asin),
    KERF_MATH1(acos),
    KERF_MATH1(atan),
    KERF_MATH1(sinh),
    KERF_MATH1(cosh),
    KERF_MATH1(tanh),
    KERF_MATH1(asinh),
    KERF_MATH1(acosh),
    KERF_MATH1(atanh),
    KERF_MATH1(erf),
    KERF_MATH1(erfc),
    KERF_MATH1(floor),
    KERF_MATH1(ceil),
    KERF_MATH1(trunc),
    KERF_MATH1(rint),
    KERF_MATH1(nearbyint),
    KERF_MATH1(fabs),
    KERF_MATH2(pow),
    KERF_MATH2(fmod),
    KERF_MATH2(atan2),
    KERF_MATH2(hypot),
    KERF_MATH2(copysign),
    KERF_MATH2(fmin),
    KERF_MATH2(fmax),
    {"fma", addressOf(static_cast<double (*)(double, double, double)>(::fma))},
    {"fmaf", addressOf(static_cast<float (*)(float, float, float)>(::fmaf))},
    {"memset", addressOf(::memset)},
    {"memcpy", addressOf(::memcpy)},
    {"memmove", addressOf(::memmove)},
    {"kerf_half_to_float", addressOf(halfToFloat)},
    {"kerf_float_to_half", addressOf(floatToHalf)},
};

std::unexpected<Error> failed(llvm::Error error) {
  return fail(ErrorCode::CompileFailed, "LLVM ORC: {}", toString(std::move(error)));
}

}  // namespace

struct JitSession::Parts {
  explicit Parts(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session(std::move(control)), linker(session, [] { return std::make_unique<SectionMemoryManager>(); }) {}
  ~Parts() {
    if (auto error = session.endSession()) consumeError(std::move(error));
  }
  orc::ExecutionSession session;
  orc::RTDyldObjectLinkingLayer linker;
  orc::JITDylib* library = nullptr;
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
  for (const Symbol& symbol : symbols)
    map[parts->session.intern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                               JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (auto error = parts->library->define(orc::absoluteSymbols(std::move(map)))) return failed(std::move(error));
  return std::shared_ptr<JitSession>(new JitSession(std::move(parts)));
}

Result<void> JitSession::add(std::unique_ptr<MemoryBuffer> object) {
  if (auto error = m_parts->linker.add(*m_parts->library, std::move(object))) return failed(std::move(error));
  return {};
}

Result<void*> JitSession::lookup(const std::string& name) {
  auto found = m_parts->session.lookup({m_parts->library}, m_parts->session.intern(name));
  if (!found) return failed(found.takeError());
  return found->getAddress().toPtr<void*>();
}

}  // namespace kerf::inline codegen_llvm
