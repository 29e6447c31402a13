// perform(BackendsRequest).
#include "app/workbench/protocol/backends.h"
#include "app/workbench/workbench.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/registry/backends.h"

namespace kerf::workbench {

Result<std::vector<BackendDoc>> perform(Workbench&, const BackendsRequest&, const Job&) {
  std::vector<BackendDoc> docs;
  const auto add = [&](const Backend& backend) {
    const auto runs = backend.canRun();
    docs.push_back({std::string(backend.name()), std::string(backend.description()), runs.has_value(),
                    runs ? std::string() : runs.error().text()});
  };
  for (const Backend* backend : backends()) add(*backend);
  add(cudaBackend());
  return docs;
}

}  // namespace kerf::workbench
