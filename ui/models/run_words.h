// What a result says of how the graph was run, where that is not the usual way.
#pragma once

#include <string>
#include <vector>

#include <QString>

namespace kerf::ui::inline models {

/// "LLVM", "Interpreter", "CUDA"; of another backend its name.
QString backendTitle(const std::string& name);

/// "  ·  planted: relu=accuracy  ·  by Interpreter"; empty for a run without planted faults by the usual backend.
QString settingText(const std::vector<std::string>& plants, const std::string& backend);
QString settingText(const QString& plant, const std::string& backend);

}  // namespace kerf::ui::inline models
