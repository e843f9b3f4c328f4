window.late = { hello: () => "late" };
