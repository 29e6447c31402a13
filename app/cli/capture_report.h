// What a capture holds, for people and for scripts: graphs, compile ids, records, fusion groups.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

Json recordRowJson(const CaptureIndex& index, const RecordEntry& record);
Json compileRowJson(const CaptureIndex& index, const CompileEntryDoc& compile);

/// "c3  torch_trace  path  torch 2.11.0".
std::string headline(const CaptureIndex& index);
/// Compile ids with status, and under each of them what its log remarks, and its graphs.
std::string compileTree(const CaptureIndex& index, const CompileLogDoc& log = {});

/// The log's answer, compile ids with status, graphs, and how many records of each kind.
std::string overviewText(const CaptureIndex& index, const CompileLogDoc& log = {});
Json overviewJson(const CaptureIndex& index, const CompileLogDoc& log = {});

/// A record with its payload.
Json recordJson(const std::string& id, const RecordDoc& record);

std::string fusionText(const std::vector<FusionRow>& groups);

}  // namespace kerf::cli
