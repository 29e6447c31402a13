// Printing how a trace's compilations went: the answer, and tables as text and JSON.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

/// The sentences, problems first, a line each; empty where there is nothing to say.
std::string answerText(const CompileLogDoc& doc);

/// Columns with nothing in them are left out, long cells cut; the details of explained rows come below the table.
std::string logTableText(const LogTable& table);
/// Rows as objects by the columns' keys, complete.
Json logTableJson(const CompileLogDoc& doc, const LogTable& table);

}  // namespace kerf::cli
