// How a command asks a running engine for something, and waits for what comes of it.
//
// Exit codes as those of operate.h.
#pragma once

#include "apps/client.h"
#include "apps/event_printer.h"

#include <string>

namespace trueup::apps {

/// Prints one sentence; the exit code of a command that asked nothing.
int complain(const std::string& sentence);
/// Sends the request, waits until the engine has come to it, and says what came of it.
int ask_engine(const EngineClient& engine, const EngineClient::Json& body, OutputFormat format);
/// True once `yes` was typed, or `already`; anything else is a no.
bool confirmed(bool already, const std::string& question);

}  // namespace trueup::apps
