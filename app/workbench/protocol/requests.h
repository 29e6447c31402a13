// The list of all requests: what a workbench answers, in this process or in a worker.
#pragma once

#include <tuple>

#include "app/workbench/protocol/alignment.h"
#include "app/workbench/protocol/audit.h"
#include "app/workbench/protocol/backends.h"
#include "app/workbench/protocol/captures.h"
#include "app/workbench/protocol/compile_log.h"
#include "app/workbench/protocol/difference.h"
#include "app/workbench/protocol/graphs.h"
#include "app/workbench/protocol/guards.h"
#include "app/workbench/protocol/inputs.h"
#include "app/workbench/protocol/joint.h"
#include "app/workbench/protocol/notes.h"
#include "app/workbench/protocol/ops.h"
#include "app/workbench/protocol/partition.h"
#include "app/workbench/protocol/patterns.h"
#include "app/workbench/protocol/programs.h"
#include "app/workbench/protocol/rank_runs.h"
#include "app/workbench/protocol/ranks.h"
#include "app/workbench/protocol/recorded_code.h"
#include "app/workbench/protocol/reductions.h"
#include "app/workbench/protocol/runs.h"
#include "app/workbench/protocol/stages.h"
#include "app/workbench/protocol/store.h"
#include "app/workbench/protocol/store_care.h"
#include "app/workbench/protocol/train_example.h"
#include "app/workbench/protocol/triage.h"
#include "app/workbench/protocol/values.h"
#include "app/workbench/protocol/verification.h"

/// KERF_REQUESTS(macro) is macro(OpenRequest) macro(CloseRequest) …
#define KERF_REQUESTS(macro)                                                                                          \
  macro(OpenRequest) macro(CloseRequest) macro(IndexRequest) macro(LocateRequest) macro(RecordRequest) macro(         \
      TimelineRequest) macro(FusionRequest) macro(GraphRequest) macro(CompileRequest) macro(PassesRequest)            \
      macro(RenderRequest) macro(GuardsRequest) macro(DiffRequest) macro(NodeLifeRequest) macro(CaptureDiffRequest)   \
          macro(RunRequest) macro(CompareRequest) macro(BisectRequest) macro(ConformanceRequest) macro(MinifyRequest) \
              macro(JudgeRequest) macro(StepsRequest) macro(ImportRequest) macro(FollowRequest) macro(StoreRequest)   \
                  macro(VerifyRequest) macro(ExportRequest) macro(OpsRequest) macro(StoreInfoRequest)                 \
                      macro(StoreVerifyRequest) macro(RemoveRequest) macro(RestoreRequest) macro(SweepRequest)        \
                          macro(ShrinkRequest) macro(StoreExportRequest) macro(StoreImportRequest)                    \
                              macro(InputsRequest) macro(TriageRequest) macro(AotRequest) macro(PatternsRequest)      \
                                  macro(PartitionRequest) macro(CompileLogRequest) macro(LogReportRequest)            \
                                      macro(RecordedStagesRequest) macro(PassDifferencesRequest) macro(NotesRequest)  \
                                          macro(NoteRequest) macro(NodeValueRequest) macro(RecordedCodeRequest)       \
                                              macro(NeighbourRequest) macro(PassListRequest)                          \
                                                  macro(CaptureProgramRequest) macro(ProgramReportRequest)            \
                                                      macro(ShardRequest) macro(RanksRequest)                         \
                                                          macro(ShardingCheckRequest) macro(AuditRequest)             \
                                                              macro(RankRunsRequest) macro(MinifyRanksRequest)        \
                                                                  macro(HasRanksRequest) macro(TrainExampleRequest)   \
                                                                      macro(AlignRequest) macro(AbsentNamesRequest)   \
                                                                          macro(BackendsRequest)

namespace kerf::workbench {

#define KERF_REQUEST_TYPE(Type) Type,
/// With Done at the end, which is no request.
using Requests = std::tuple<KERF_REQUESTS(KERF_REQUEST_TYPE) Done>;
#undef KERF_REQUEST_TYPE

}  // namespace kerf::workbench
