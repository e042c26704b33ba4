extends Node3D
# A lit box and a plane with a shadow; after some frames, a hash of the picture.
var frames := 0
func _ready() -> void:
	var light := DirectionalLight3D.new()
	light.rotation_degrees = Vector3(-50, 30, 0)
	light.shadow_enabled = true
	add_child(light)
	var camera := Camera3D.new()
	camera.position = Vector3(0, 1.5, 4)
	camera.rotation_degrees = Vector3(-15, 0, 0)
	add_child(camera)
	for mesh: PrimitiveMesh in [BoxMesh.new(), PlaneMesh.new()]:
		var shown := MeshInstance3D.new()
		shown.mesh = mesh
		if mesh is PlaneMesh:
			mesh.size = Vector2(6, 6)
			shown.position.y = -0.6
		add_child(shown)
	var world := WorldEnvironment.new()
	world.environment = Environment.new()
	world.environment.ssao_enabled = true
	world.environment.glow_enabled = true
	add_child(world)
func _process(_delta: float) -> void:
	frames += 1
	if frames == 10:
		await RenderingServer.frame_post_draw
		var data := get_viewport().get_texture().get_image().get_data()
		var context := HashingContext.new()
		context.start(HashingContext.HASH_SHA256)
		context.update(data)
		print(context.finish().hex_encode())
		get_tree().quit()
