// DeviceOnHost: the ops that the cuda backend runs by kernels of its own, on the CPU: memory of the device is the
// host's, a launch runs the kernel's threads one after the other (cuda_on_host.h). What it shows is everything but the
// device's speed.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <regex>

#include "engine/backend/cuda/device_blas.h"
#include "engine/backend/cuda/device_ops.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registry.h"
#include "tests/support/cuda_on_host.h"
#include "tests/support/tensor_cores_on_host.h"

namespace kerf::testing_support {

/// KerfLaunch of threads_on_host.h.
struct HostLaunch {
  unsigned blocks, threads, cluster, shared;
  bool backwards;
  void (*body)() = nullptr;  ///< the entry's own
};
/// With `words` a kernel's entry adds what its arguments hold there, addresses among them, and does nothing else.
using HostEntry = const char* (*)(HostLaunch launch, void** arguments, std::vector<void*>* words);

/// A library of kernels, each callable as CUDA's driver calls them: by addresses of its arguments.
class HostKernels {
 public:
  /// All kernels of this text, with an entry each.
  static std::string withEntries(const std::string& source) {
    std::string text = withHalves(source);
    text += R"source(
      static void** kerfArguments;
      template <class... P>
      static void kerfCall(void (*kernel)(P...)) {
        [&]<size_t... i>(std::index_sequence<i...>) { kernel(*(P*)kerfArguments[i]...); }
        (std::index_sequence_for<P...>{});
      }
      template <class... P>
      static void kerfAddWords(void (*)(P...), std::vector<void*>& words, void** arguments) {
        const auto add = [&](const void* argument, size_t bytes) {
          for (size_t at = 0; at + 8 <= bytes; at += 8) words.push_back(*(void**)((const char*)argument + at));
        };
        (add(*arguments++, sizeof(P)), ...);
      }
      #define KERF_ENTRY(kernel) \
        extern "C" __attribute__((visibility("default"))) const char* host_##kernel( \
            KerfLaunch launch, void** arguments, std::vector<void*>* words) { \
          if (words != nullptr) return kerfAddWords(kernel, *words, arguments), nullptr; \
          kerfArguments = arguments, launch.body = [] { kerfCall(kernel); }; \
          return kerfLaunch(launch); \
        }
    )source";
    static const std::regex kernel(R"(__global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\()");
    for (auto it = std::sregex_iterator(source.begin(), source.end(), kernel); it != std::sregex_iterator(); ++it)
      text += fmt::format("KERF_ENTRY({})\n", (*it)[1].str());
    return text;
  }

  Result<void*> entry(const std::string& source, const std::string& name) {
    void*& library = m_libraries[source];
    if (library == nullptr) {
      KERF_TRY(library, openedLibrary(cudaOnHostPrelude() + std::string(tensorCoresOnHost), withEntries(source)));
    }
    void* const found = dlsym(library, ("host_" + name).c_str());
    if (found == nullptr) return fail(ErrorCode::NotFound, "there is no kernel {}", name);
    return found;
  }

 private:
  /// Halves are converted by assembly, which the host's compiler does not take.
  static std::string withHalves(std::string source) {
    const auto exchange = [&](const std::string& from, const std::string& to) {
      if (const auto at = source.find(from); at != std::string::npos) source.replace(at, from.size(), to);
    };
    exchange(R"(asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));)",
             "{ _Float16 h; memcpy(&h, &bits, 2); value = h; }");
    exchange(R"(asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));)",
             "{ _Float16 h = value; memcpy(&bits, &h, 2); }");
    return source;
  }
  std::map<std::string, void*> m_libraries;  // stay open until the process ends
};

/// Products of matrices as cuBLAS gives them, by three loops: summed in float64 and rounded once.
class HostProducts {
 public:
  static Result<void> multiply(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceMatrix& out,
                               ProductTypes types, std::int64_t batch, double alpha, double beta) {
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t i = 0; i < out.rows; ++i)
        for (std::int64_t j = 0; j < out.columns; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < a.columns; ++k)
            sum += read(a, types.factors, n, i, k) * read(b, types.factors, n, k, j);
          write(out, types.result, n, i, j, alpha * sum + (beta == 0 ? 0 : beta * read(out, types.result, n, i, j)));
        }
    return {};
  }

 private:
  static void* place(const DeviceMatrix& m, DType dtype, std::int64_t n, std::int64_t i, std::int64_t j) {
    const std::int64_t at = n * m.batchStride + i * m.rowStride + j * m.columnStride;
    return reinterpret_cast<void*>(m.address + std::uint64_t(at * itemSize(dtype)));
  }
  static double read(const DeviceMatrix& m, DType dtype, std::int64_t n, std::int64_t i, std::int64_t j) {
    const void* const at = place(m, dtype, n, i, j);
    if (dtype == DType::Float64) return *static_cast<const double*>(at);
    if (dtype == DType::Float16) return *static_cast<const Half*>(at);
    if (dtype == DType::BFloat16) return *static_cast<const BFloat16*>(at);
    return *static_cast<const float*>(at);
  }
  static void write(const DeviceMatrix& m, DType dtype, std::int64_t n, std::int64_t i, std::int64_t j, double value) {
    void* const at = place(m, dtype, n, i, j);
    if (dtype == DType::Float64)
      *static_cast<double*>(at) = value;
    else if (dtype == DType::Float16)
      *static_cast<Half*>(at) = Half(float(value));
    else if (dtype == DType::BFloat16)
      *static_cast<BFloat16*>(at) = BFloat16(float(value));
    else
      *static_cast<float*>(at) = float(value);
  }
};

class DeviceOnHost {
 public:
  /// The one of this process: kernels are compiled once.
  static DeviceOnHost& get() {
    static DeviceOnHost device;
    return device;
  }

  /// What the device's op gives; none where it leaves the call to the host.
  Result<std::optional<Value>> run(const std::string& op, ValueList args, const KeywordValues& kwargs = {}) {
    const OpInfo* const info = findOp("torch.ops." + op);
    const DeviceOp* const row = findDeviceOp(op);
    if (info == nullptr || row == nullptr) return fail(ErrorCode::NotFound, "{}", op);
    KERF_TRY(const BoundArguments bound, bindArguments(*info, std::move(args), kwargs));
    m_memory.forget({});
    m_scratch.reset();
    KERF_CHECK(m_checks.begin());
    KERF_TRY(const ValueList outs, makeResults(*row, bound));
    const DeviceParts parts{m_queue,      m_memory, m_library,    m_scratch,       m_checks,
                            m_blas.get(), nullptr,  m_scoreBytes, m_fusesAttention};
    if (row->prepare != nullptr) KERF_CHECK(row->prepare({parts, bound, outs}));
    KERF_TRY(const bool done, row->run({parts, bound, outs}));
    if (!done) return std::nullopt;
    KERF_CHECK(m_checks.finish());
    const Value result = outs.size() > 1 ? Value(outs) : outs.front();
    KERF_CHECK(m_memory.toHost(result));
    return result;
  }
  /// What a run says that asks whether all of `indices` lie within bounds.
  Result<void> check(const Tensor& indices, IndexBounds bounds) {
    m_memory.forget({});
    KERF_CHECK(m_checks.begin());
    const DeviceParts parts{m_queue,      m_memory, m_library,    m_scratch,       m_checks,
                            m_blas.get(), nullptr,  m_scoreBytes, m_fusesAttention};
    KERF_TRY(const DeviceAddress address, parts.addressOf(indices));
    KERF_CHECK(m_checks.add(indices, address, std::move(bounds)));
    return m_checks.finish();
  }
  int launches() const { return s_launches; }
  /// What attention's scores take at most, bytes.
  void limitScores(std::int64_t bytes) { m_scoreBytes = bytes; }
  /// Whether attention may be one kernel.
  void fuseAttention(bool fuses) { m_fusesAttention = fuses; }

 private:
  DeviceOnHost()
      : m_driver(CudaDriver::over(functions(), processors)),
        m_queue(*m_driver),
        m_memory(m_queue),
        m_library(m_queue,
                  [this](const std::string& source, const std::string& name) { return m_kernels.entry(source, name); }),
        m_scratch(*m_driver),
        m_checks(m_queue, m_library),
        m_blas(DeviceBlas::over(*m_driver, HostProducts::multiply)) {}

  static constexpr int processors = 4;  // few calls of the tests have a block for each, others have
  static DriverFunctions functions() {
    DriverFunctions f;
    f.errorName = [](int, const char** name) { return *name = "an error", 0; };
    f.allocate = [](DeviceAddress* place, std::size_t bytes) {
      void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
      std::memset(memory, 0xee, bytes);  // nothing that a kernel may take for zeros
      s_memory.emplace(memory, bytes);
      return *place = DeviceAddress(memory), 0;
    };
    f.release = [](DeviceAddress place) {
      s_memory.erase(reinterpret_cast<void*>(place));
      return std::free(reinterpret_cast<void*>(place)), 0;
    };
    f.upload = [](DeviceAddress to, const void* from, std::size_t bytes, void*) {
      return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
    };
    f.download = [](void* to, DeviceAddress from, std::size_t bytes, void*) {
      return std::memcpy(to, reinterpret_cast<void*>(from), bytes), 0;
    };
    f.copy = [](DeviceAddress to, DeviceAddress from, std::size_t bytes, void*) {
      return std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), 0;
    };
    f.clear = [](DeviceAddress place, unsigned char byte, std::size_t bytes, void*) {
      return std::memset(reinterpret_cast<void*>(place), byte, bytes), 0;
    };
    f.streamSynchronize = [](void*) { return 0; };
    f.setAttribute = [](void*, int, int) { return 0; };
    f.launch = [](void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                  unsigned shared, void*, void** arguments, void**) {
      ++s_launches;
      const auto entry = reinterpret_cast<HostEntry>(function);
      launchBothWays(memoryOf(entry, arguments), [&](bool backwards) {
        return entry({blocks, threads, 1, shared, backwards}, arguments, nullptr);
      });
      return 0;
    };
    return f;
  }

  /// What was allocated where a kernel's arguments point to.
  static std::vector<HostMemory> memoryOf(HostEntry entry, void** arguments) {
    std::vector<void*> words;
    entry({}, arguments, &words);
    std::map<void*, std::size_t> known;
    for (void* const word : words) {
      const auto behind = s_memory.upper_bound(word);
      if (behind == s_memory.begin()) continue;
      const auto [place, bytes] = *std::prev(behind);
      if (word < static_cast<char*>(place) + bytes) known.emplace(place, bytes);
    }
    std::vector<HostMemory> memory;
    for (const auto& [place, bytes] : known) memory.emplace_back(place, bytes);
    return memory;
  }

  Result<ValueList> makeResults(const DeviceOp& row, const BoundArguments& bound) {
    if (row.inPlace) return ValueList{bound.values[0]};
    KERF_TRY(const Value shape, runShapeRule(bound));
    ValueList outs = shape.isList() ? shape.list() : ValueList{shape};
    for (std::size_t i = 0; i < outs.size(); ++i) {
      if (!outs[i].isTensor()) continue;
      KERF_TRY(Tensor out, allocateEmpty(outs[i].tensor()));
      if ((row.filled >> i & 1) != 0)
        KERF_CHECK(m_memory.adopt(out.storage(), {m_calls, int(i)}));
      else
        KERF_CHECK(m_memory.create(out.storage(), {m_calls, int(i)}, !fillsStorage(out)));
      outs[i] = std::move(out);
    }
    ++m_calls;
    return outs;
  }

  static inline int s_launches = 0;
  static inline std::map<void*, std::size_t> s_memory;  ///< bytes by where they lie
  HostKernels m_kernels;
  std::unique_ptr<CudaDriver> m_driver;
  DeviceQueue m_queue;
  DeviceMemory m_memory;
  DeviceLibrary m_library;
  DeviceScratch m_scratch;
  DeviceChecks m_checks;
  std::unique_ptr<DeviceBlas> m_blas;
  std::int64_t m_scoreBytes = std::int64_t{256} << 20;
  bool m_fusesAttention = true;
  int m_calls = 0;
};

}  // namespace kerf::testing_support
