// The stages of AOTAutograd that the window offers for a graph.
#pragma once

#include <string>
#include <vector>

#include <QString>

namespace kerf::ui::inline session {

struct AotStageTitle {
  std::string stage;  ///< as addresses have it: "joint/inductor"; empty: the captured graph
  QString title;
};
/// In the order in which they are made of each other.
const std::vector<AotStageTitle>& aotStageTitles();
/// "Joint (Inductor decompositions)"; of a stage that is not offered, the stage itself.
QString titleOfStage(const std::string& stage);
/// Place in aotStageTitles(); -1: not there.
int indexOfStage(const std::string& stage);

}  // namespace kerf::ui::inline session
