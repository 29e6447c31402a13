#include "engine/codegen_cuda/nvrtc.h"

#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "engine/support/shared_library.h"

namespace kerf::inline codegen_cuda {
namespace {

/// Those of NVRTC's functions that are used, declared after its documentation: its headers are not needed to build.
struct Functions {
  using Program = void*;
  int (*version)(int* major, int* minor) = nullptr;
  int (*create)(Program*, const char* source, const char* name, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int options, const char* const* texts) = nullptr;
  int (*ptxSize)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*cubinSize)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*logSize)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  const char* (*errorText)(int) = nullptr;
};

Result<Functions> loadFunctions() {
  KERF_TRY(const SharedLibrary library, SharedLibrary::open(cudaLibraryNames("libnvrtc", {13, 12})));
  Functions f;
  const bool complete = library.find("nvrtcVersion", f.version) && library.find("nvrtcCreateProgram", f.create) &&
                        library.find("nvrtcDestroyProgram", f.destroy) &&
                        library.find("nvrtcCompileProgram", f.compile) && library.find("nvrtcGetPTXSize", f.ptxSize) &&
                        library.find("nvrtcGetPTX", f.ptx) && library.find("nvrtcGetCUBINSize", f.cubinSize) &&
                        library.find("nvrtcGetCUBIN", f.cubin) && library.find("nvrtcGetProgramLogSize", f.logSize) &&
                        library.find("nvrtcGetProgramLog", f.log) && library.find("nvrtcGetErrorString", f.errorText);
  if (!complete) return fail(ErrorCode::Environment, "this machine's libnvrtc lacks functions of CUDA 12");
  return f;
}

const Result<Functions>& functions() {
  static const Result<Functions> loaded = loadFunctions();
  return loaded;
}

/// Leaves out what no kernel needs, textures among it, which is a fifth of the time of a small source. Compilers that do
/// not know it are older than CUDA 12.
constexpr const char* minimalOption = "--minimal";
constexpr int invalidOption = 5;

class Program {
 public:
  Program(const Functions& f, const std::string& source) : m_f(f) {
    m_status = f.create(&m_program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  }
  ~Program() { m_f.destroy(&m_program); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Result<CompiledSource> compile(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    std::vector options{target.c_str(), "--std=c++17", "--fmad=false", "--extra-device-vectorization", minimalOption};
    if (m_status == 0) m_status = m_f.compile(m_program, int(options.size()), options.data());
    if (m_status == invalidOption) {
      options.pop_back();
      m_status = m_f.compile(m_program, int(options.size()), options.data());
    }
    if (m_status != 0)
      return fail(ErrorCode::CompileFailed, "NVRTC: {}\n{}", m_f.errorText(m_status), textOf(m_f.logSize, m_f.log));
    return CompiledSource{textOf(m_f.ptxSize, m_f.ptx), bytesOf(m_f.cubinSize, m_f.cubin)};
  }

 private:
  std::string bytesOf(int (*size)(void*, std::size_t*), int (*get)(void*, char*)) const {
    std::size_t bytes = 0;
    if (size(m_program, &bytes) != 0 || bytes == 0) return {};
    std::string text(bytes, '\0');
    return get(m_program, text.data()) == 0 ? text : std::string();
  }
  /// Without the zero at its end.
  std::string textOf(int (*size)(void*, std::size_t*), int (*get)(void*, char*)) const {
    std::string text = bytesOf(size, get);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

  const Functions& m_f;
  void* m_program = nullptr;
  int m_status = 0;
};

}  // namespace

Result<std::string> nvrtcVersion() {
  const auto& f = functions();
  if (!f) return fail(Error(f.error()));
  int major = 0, minor = 0;
  f->version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

Result<std::string> nvrtcPath() {
  const auto& f = functions();
  if (!f) return fail(Error(f.error()));
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(f->version), &info) == 0 || info.dli_fname == nullptr)
    return fail(ErrorCode::Environment, "the system does not tell where libnvrtc lies");
  return std::string(info.dli_fname);
}

Result<CompiledSource> compileSource(const std::string& source, const std::string& architecture) {
  const auto& f = functions();
  if (!f) return fail(Error(f.error()));
  return Program(*f, source).compile(architecture);
}

}  // namespace kerf::inline codegen_cuda
