#include "engine/codegen_llvm/target.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include <algorithm>
#include <csetjmp>
#include <mutex>

#include "engine/codegen_llvm/vector_calls.h"

namespace kerf::inline codegen_llvm {
namespace {

/// Where a fatal LLVM error on this thread returns to. LLVM requires its handler not to return and is built without
/// exceptions, so a jump over its frames (leaking what they held) is the only way not to end the process.
struct FatalFrame {
  std::jmp_buf place;
  std::string message;
};
thread_local FatalFrame* fatalFrame = nullptr;

void onFatalError(void*, const char* reason, bool) {
  if (!fatalFrame) return;
  fatalFrame->message = reason;
  std::longjmp(fatalFrame->place, 1);
}

struct KeepErrors : llvm::DiagnosticHandler {
  explicit KeepErrors(std::string& text) : m_text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(m_text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }
  std::string& m_text;
};

struct Host {
  std::string triple = llvm::sys::getProcessTriple();
  std::string processor = llvm::sys::getHostCPUName().str();
  std::string features;
  bool half = false, fused = false, wordProducts = false;
  int floats = 0;
  const llvm::Target* target = nullptr;

  Host() {
    initializeLlvm();
    llvm::SubtargetFeatures list;
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) list.AddFeature(feature.first(), feature.second);
    const auto has = [&](std::string_view feature) {
      return std::ranges::find(list.getFeatures(), fmt::format("+{}", feature)) != list.getFeatures().end();
    };
    half = has("f16c");
    fused = has("fma");
    wordProducts = has("avx512vnni");
    floats = has("avx512f") ? 16 : has("avx2") ? 8 : 0;
    // For some processors LLVM prefers half registers: streams would write half lines, of which some leave alone.
    if (floats == 16) list.AddFeature("prefer-256-bit", false);
    features = list.getString();
    std::string error;
    target = llvm::TargetRegistry::lookupTarget(triple, error);
  }
};

const Host& host() {
  static const Host instance;
  return instance;
}

}  // namespace

void initializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::install_fatal_error_handler(onFatalError);
  });
}

bool hasHardwareHalf() { return host().half; }

bool hasFusedProducts() { return host().fused; }

bool hasWideRegisters() { return host().floats == 16; }

bool hasWordProducts() { return hasWideRegisters() && host().wordProducts; }

int floatsOfRegister() { return host().floats; }

const std::string& targetText() {
  static const std::string text = fmt::format("{} {} {}", host().triple, host().processor, host().features);
  return text;
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(int optimizationLevel) {
  if (!host().target) return nullptr;
  const auto level = optimizationLevel <= 0   ? llvm::CodeGenOptLevel::None
                     : optimizationLevel == 1 ? llvm::CodeGenOptLevel::Less
                                              : llvm::CodeGenOptLevel::Default;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(
      host().target->createTargetMachine(host().triple, host().processor, host().features, options, llvm::Reloc::PIC_,
                                         llvm::CodeModel::Small, level, true));
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, int optimizationLevel) {
  if (optimizationLevel <= 0) return;
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  if (optimizationLevel >= 2) {
    // What a whole loop reads or does not, as a piece of a cat, gets loops of its own: loads of vectors of which no
    // element is meant may point at no memory, and take a hundred times as long there.
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::SimpleLoopUnswitchPass(true)));
    passes.addPass(llvm::LoopVectorizePass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
  }
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !isWidthOfForm(function)) passes.run(function, functions);
}

std::string emitAssembly(const llvm::Module& module, llvm::TargetMachine& machine) {
  const auto copy = llvm::CloneModule(module);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) return {};
  passes.run(*copy);
  return std::string(bytes.data(), bytes.size());
}

std::unique_ptr<llvm::MemoryBuffer> emitObject(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* context = nullptr;
  if (machine.addPassesToEmitMC(passes, context, stream)) return nullptr;
  passes.run(module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "kerf.o", false);
}

void keepDiagnostics(llvm::LLVMContext& context, std::string& text) {
  context.setDiagnosticHandler(std::make_unique<KeepErrors>(text));
}

std::string guardFatalErrors(const std::function<void()>& body) {
  FatalFrame frame;
  fatalFrame = &frame;
  if (setjmp(frame.place) == 0) body();
  fatalFrame = nullptr;
  return frame.message;
}

}  // namespace kerf::inline codegen_llvm
