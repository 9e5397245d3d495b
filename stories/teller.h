// Tells what the statements of a story say to the script that folds it. For the player of stories.
//
// Not thread-safe.
#pragma once

#include "stories/saying.h"
#include "stories/script.h"
#include "stories/world.h"

#include <cstdint>
#include <string>

namespace trueup::stories {

/// Tells one statement after the other; throws Unusable and Stumbled.
class Teller {
  public:
    Teller(const Story& story, const Shared<policy::Policy>& policy, const Manner& manner);

    void say(const Statement& statement);
    Script& script() { return script_; }

  private:
    std::string halted();
    std::string source(Saying& said) const;
    std::string key_of(const std::string& name) const;
    void act(Saying& said);
    bool speak_of_object(Saying& said);
    void speak_of_source(Saying& said);
    [[noreturn]] void fail_verb(const Saying& said) const;
    void count(Saying& said);
    void clock(Saying& said);
    void expect(Saying& said);
    bool asks(Saying& said);
    void aim(Saying& said, RequestScope& scope);
    Offset offset_seen(Saying& said, const std::string& seen);
    void enabling(Saying& said);
    void write_again(Saying& said);
    Offset offset_at(Millis time);
    void policy(Saying& said);
    void outcome(Saying& said);
    void rule(Saying& said);

    World world_;
    Script script_;
    std::uint64_t version_ = 9;
};

}  // namespace trueup::stories
