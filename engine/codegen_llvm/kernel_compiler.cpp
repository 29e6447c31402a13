#include "engine/codegen_llvm/kernel_compiler.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <optional>
#include <thread>
#include <unordered_map>

#include "engine/codegen_llvm/jit_session.h"
#include "engine/codegen_llvm/kernel_emitter.h"
#include "engine/codegen_llvm/line_numbers.h"
#include "engine/codegen_llvm/object_cache.h"
#include "engine/codegen_llvm/source_lines.h"
#include "engine/codegen_llvm/streams.h"
#include "engine/codegen_llvm/target.h"
#include "engine/codegen_llvm/vector_calls.h"
#include "engine/codegen_llvm/vector_functions.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline codegen_llvm {
namespace {

/// Below this many distinct kernels a second thread costs more than it saves.
constexpr std::size_t kernelsPerThread = 5;

/// One LLVM module's worth of work and what came of it.
struct Batch {
  std::vector<std::size_t> kernels;  ///< indices of distinct kernels
  std::unique_ptr<llvm::MemoryBuffer> object;
  std::vector<std::string> texts;
  std::string failure;
  bool cached = false;
};

std::string symbolName(std::size_t distinct, const LoopKernel& kernel) {
  return kernel.name.empty() ? "kernel_" + std::to_string(distinct) : kernel.name;
}

/// What is kept for display of each kernel: LLVM IR, its lines' origins, assembly, and its lines' origins.
constexpr std::size_t textsPerKernel = 4;

/// Which program makes the code: of another build nothing is taken.
const std::string& codeVersion() {
  static const std::string version = [] {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const auto size = std::filesystem::file_size(program, ignored);
    const auto time = std::filesystem::last_write_time(program, ignored).time_since_epoch().count();
    return fmt::format("LLVM {} {} {} {}", LLVM_VERSION_STRING, program.string(), size, time);
  }();
  return version;
}

class Compilation {
 public:
  Compilation(std::span<const LoopKernel* const> kernels, const CodegenOptions& options)
      : m_kernels(kernels), m_options(options), m_streamFrom(streamThreshold()), m_cache(options.cache) {}

  Result<CompiledKernels> run() {
    findDistinct();
    if (m_distinct.empty()) return CompiledKernels{.kernels = std::vector<CompiledKernel>(m_kernels.size())};
    makeBatches();
    runBatches();
    for (const Batch& batch : m_batches)
      if (!batch.failure.empty()) return fail(ErrorCode::CompileFailed, "LLVM refused the kernels: {}", batch.failure);
    return link();
  }

 private:
  void findDistinct() {
    std::unordered_map<std::string, std::size_t> known;
    for (const LoopKernel* kernel : m_kernels) {
      const auto [found, isNew] = known.emplace(structuralKey(*kernel), m_distinct.size());
      if (isNew) m_distinct.push_back(kernel);
      m_distinctOf.push_back(found->second);
    }
  }

  void makeBatches() {
    const std::size_t wanted = m_distinct.size() / kernelsPerThread;
    const std::size_t count = std::clamp<std::size_t>(wanted, 1, std::size_t(std::min(4, threadCount())));
    m_batches.resize(count);
    std::vector<std::size_t> load(count, 0);
    for (std::size_t k = 0; k < m_distinct.size(); ++k) {
      const auto lightest = std::size_t(std::ranges::min_element(load) - load.begin());
      m_batches[lightest].kernels.push_back(k);
      load[lightest] += m_distinct[k]->exprs.size() + 20;
    }
  }

  void runBatches() {
    std::vector<std::thread> threads;
    for (std::size_t b = 1; b < m_batches.size(); ++b) threads.emplace_back([this, b] { compileSafely(m_batches[b]); });
    compileSafely(m_batches[0]);
    for (auto& thread : threads) thread.join();
  }

  void compileSafely(Batch& batch) {
    const std::string fatal = guardFatalErrors([&] { compile(batch); });
    if (!fatal.empty()) batch.failure = fatal;
  }

  /// Everything that the object code of a batch depends on.
  Hash128 keyOf(const Batch& batch) const {
    std::string text = fmt::format("{} O{} {} {} functions of one width, streams from {}", codeVersion(),
                                   m_options.optimizationLevel, targetText(), vectorForms().size(), m_streamFrom);
    for (const std::size_t k : batch.kernels)
      text += fmt::format("\n{}\n{}", symbolName(k, *m_distinct[k]), structuralKey(*m_distinct[k]));
    return hashText(text);
  }

  bool takeFromCache(const Hash128& key, Batch& batch) const {
    auto entry = m_cache.find(key);
    if (!entry || (m_options.keepText && entry->texts.size() != textsPerKernel * batch.kernels.size())) return false;
    batch.object = llvm::MemoryBuffer::getMemBufferCopy(entry->object);
    batch.texts = std::move(entry->texts);
    batch.cached = true;
    return true;
  }

  void compile(Batch& batch) {
    if (m_options.cache.empty()) return generate(batch);
    const Hash128 key = keyOf(batch);
    if (takeFromCache(key, batch)) return;
    generate(batch);
    if (batch.failure.empty()) m_cache.store(key, {batch.object->getBuffer().str(), batch.texts});
  }

  void generate(Batch& batch) {
    llvm::LLVMContext context;
    std::string diagnostics;
    keepDiagnostics(context, diagnostics);
    auto machine = makeTargetMachine(m_options.optimizationLevel);
    if (!machine) {
      batch.failure = "no target machine for this processor";
      return;
    }
    llvm::Module module("kerf", context);
    module.setDataLayout(machine->createDataLayout());
    module.setTargetTriple(machine->getTargetTriple().str());
    std::vector<llvm::Function*> functions;
    std::optional<SourceLines> lines;
    if (m_options.keepText) lines.emplace(module);
    for (const std::size_t k : batch.kernels)
      functions.push_back(
          KernelEmitter(module, *m_distinct[k], hasHardwareHalf(), m_streamFrom, lines ? &*lines : nullptr)
              .emit(symbolName(k, *m_distinct[k])));
    if (lines) lines->finish();
    llvm::raw_string_ostream stream(batch.failure);
    if (llvm::verifyModule(module, &stream)) return;
    optimize(module, *machine, m_options.optimizationLevel);
    settleWidths(module);
    streamMarkedStores(module);
    if (m_options.keepText) {
      keepTexts(module, *machine, functions, batch);
      llvm::StripDebugInfo(module);  // what runs is the same, looked at or not
    }
    batch.object = emitObject(module, *machine);
    if (!diagnostics.empty())
      batch.failure = diagnostics;
    else if (!batch.object)
      batch.failure = "no object code came out";
  }

  static void keepTexts(const llvm::Module& module, llvm::TargetMachine& machine,
                        const std::vector<llvm::Function*>& functions, Batch& batch) {
    const std::string assembly = emitAssembly(module, machine);
    for (const llvm::Function* function : functions) {
      const LinedText ir = irText(*function), code = assemblyOf(assembly, function->getName().str());
      for (const LinedText& lined : {ir, code}) {
        batch.texts.push_back(lined.text);
        batch.texts.push_back(lineNumbersText(lined.lines));
      }
    }
  }

  Result<CompiledKernels> link() {
    const auto start = std::chrono::steady_clock::now();
    KERF_TRY(auto session, JitSession::create());
    for (Batch& batch : m_batches) KERF_CHECK(session->add(std::move(batch.object)));
    std::vector<CompiledKernel> distinct(m_distinct.size());
    for (const Batch& batch : m_batches)
      for (std::size_t i = 0; i < batch.kernels.size(); ++i) {
        const std::size_t k = batch.kernels[i];
        KERF_TRY(void* const address, session->lookup(symbolName(k, *m_distinct[k])));
        distinct[k].code = KernelCode(address, !m_distinct[k]->parameters.empty());
        if (!m_options.keepText) continue;
        const auto texts = batch.texts.begin() + std::ptrdiff_t(textsPerKernel * i);
        distinct[k].text = texts[0];
        distinct[k].textLines = readLineNumbers(texts[1]);
        distinct[k].assembly = texts[2];
        distinct[k].assemblyLines = readLineNumbers(texts[3]);
      }
    CompiledKernels result;
    for (const std::size_t k : m_distinctOf) result.kernels.push_back(distinct[k]);
    result.distinct = m_distinct.size();
    result.objects = m_batches.size();
    result.cachedObjects = std::size_t(std::ranges::count(m_batches, true, &Batch::cached));
    result.code = std::move(session);
    result.linkTime = std::chrono::steady_clock::now() - start;
    return result;
  }

  const std::span<const LoopKernel* const> m_kernels;
  const CodegenOptions& m_options;
  const std::int64_t m_streamFrom;
  const ObjectCache m_cache;
  std::vector<const LoopKernel*> m_distinct;
  std::vector<std::size_t> m_distinctOf;
  std::vector<Batch> m_batches;
};

}  // namespace

Result<CompiledKernels> compileKernels(std::span<const LoopKernel* const> kernels, const CodegenOptions& options) {
  initializeLlvm();
  return Compilation(kernels, options).run();
}

}  // namespace kerf::inline codegen_llvm
