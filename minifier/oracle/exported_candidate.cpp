#include "minifier/oracle/exported_candidate.h"

#include "engine/capture/repro/writer.h"
#include "minifier/core/repro_settings.h"

namespace kerf::inline minifier::inline oracle {

Result<Capture> exportedCandidate(const Candidate& candidate, const Capture& like, std::size_t graphIndex) {
  const CapturedGraph* original = graphIndex < like.graphs.size() ? &like.graphs[graphIndex] : nullptr;
  KERF_TRY(CapturedGraph graph, makeCapturedGraph(candidate.module, candidate.inputs, original));
  Capture capture = makeCapture(std::move(graph), like);
  stopDumping(capture.envelope);
  capture.graphs[0].envelope.reset();  // the capture has it
  return capture;
}

}  // namespace kerf::inline minifier::inline oracle
