package mcpapp_test

func runFake() {}
