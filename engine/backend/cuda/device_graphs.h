// DeviceGraphs: stretches of a program's steps that need nothing of the host, each as one CUDA graph.
//
//   first run:   every step as it comes; which of them ran on the host is remembered
//   second run:  each stretch between those is captured, and launched as a whole
//   later runs:  the same graphs again, as long as everything lies where it lay
#pragma once

#include "engine/backend/cuda/device_queue.h"

namespace kerf::inline backend {

class DeviceGraphs {
 public:
  explicit DeviceGraphs(DeviceQueue& queue) : m_queue(queue), m_driver(queue.driver()) {}
  ~DeviceGraphs() { drop(); }
  DeviceGraphs(const DeviceGraphs&) = delete;
  DeviceGraphs& operator=(const DeviceGraphs&) = delete;

  /// Before anything of a run: what an earlier one left unfinished goes.
  void reset();
  /// A run of `program` begins, whose slots lie at `places`.
  void begin(const void* program, std::size_t steps, std::vector<DeviceAddress> places);
  Result<void> beforeStep(std::size_t step);
  Result<void> afterStep(std::size_t step);
  /// The step that runs now is the host's.
  void ranOnHost();
  /// The host needs what was given to the device so far.
  Result<void> flush();

  /// Steps that ran on the host in the first run, by number.
  const std::vector<bool>& hostSteps() const { return m_onHost; }
  std::size_t graphs() const;
  /// Kernels, copies and clearings in all graphs.
  std::size_t nodes() const;
  /// Time of one launch of all graphs in order, the mean of `times`. NotFound where a step is in no graph.
  Result<std::chrono::nanoseconds> timeLaunches(int times);

 private:
  enum class Mode : std::uint8_t { Direct, Capture, Replay };
  struct Stretch {
    std::size_t first = 0, last = 0;  ///< steps
    void* executable = nullptr;
    std::size_t nodes = 0;
    std::uint64_t fingerprint = 0;
    bool refused = false;
  };
  void drop();
  void findStretches();
  Stretch* stretchAt(std::size_t step);
  Result<void*> endCapture();
  Result<void> keepCaptured();

  DeviceQueue& m_queue;
  CudaDriver& m_driver;
  const void* m_program = nullptr;
  std::vector<DeviceAddress> m_places;
  std::vector<bool> m_onHost;
  int m_runs = 0;
  std::vector<Stretch> m_stretches;
  Stretch* m_current = nullptr;
  Mode m_mode = Mode::Direct;
  std::size_t m_step = 0;
};

}  // namespace kerf::inline backend
