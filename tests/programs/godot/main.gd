extends Node3D
# Columns, boxes and spheres on a glossy floor, with the effects of a game: shadows of the sun and of a lamp, ambient occlusion, reflections in
# screen space, glow and tone mapping. After some frames, a hash of the picture.
const FRAMES := 8
var frames := 0
var sun := DirectionalLight3D.new()
func _ready() -> void:
	sun.rotation_degrees = Vector3(-50, 30, 0)
	sun.shadow_enabled = true
	add_child(sun)
	var lamp := OmniLight3D.new()
	lamp.position = Vector3(1, 2, 1)
	lamp.light_color = Color(1, 0.6, 0.3)
	lamp.shadow_enabled = true
	add_child(lamp)
	var camera := Camera3D.new()
	camera.position = Vector3(0, 2, 7)
	camera.rotation_degrees = Vector3(-12, 0, 0)
	add_child(camera)
	var floor_mesh := PlaneMesh.new()
	floor_mesh.size = Vector2(20, 20)
	show_mesh(floor_mesh, Vector3.ZERO, surface(Color(0.3, 0.3, 0.35), 0.1, 0.0))
	for row in 4:
		for column in 5:
			var meshes := [BoxMesh.new(), SphereMesh.new(), CylinderMesh.new()]
			var color := Color.from_hsv((row * 5 + column) / 20.0, 0.7, 0.9)
			var glow := 3.0 if (row + column) % 5 == 0 else 0.0
			show_mesh(meshes[(row + column) % 3], Vector3(column * 2.0 - 4.0, 1.0, 2.0 - row * 2.5), surface(color, 0.4, glow))
	var world := WorldEnvironment.new()
	var environment := Environment.new()
	environment.background_mode = Environment.BG_SKY
	environment.sky = Sky.new()
	environment.sky.sky_material = ProceduralSkyMaterial.new()
	environment.tonemap_mode = Environment.TONE_MAPPER_ACES
	environment.ssao_enabled = true
	environment.ssr_enabled = true
	environment.glow_enabled = true
	environment.fog_enabled = true
	environment.fog_density = 0.01
	world.environment = environment
	add_child(world)
func surface(color: Color, roughness: float, glow: float) -> StandardMaterial3D:
	var material := StandardMaterial3D.new()
	material.albedo_color = color
	material.roughness = roughness
	material.metallic = 0.3
	material.emission_enabled = glow > 0.0
	material.emission = color
	material.emission_energy_multiplier = glow
	return material
func show_mesh(mesh: PrimitiveMesh, at: Vector3, material: StandardMaterial3D) -> void:
	var shown := MeshInstance3D.new()
	shown.mesh = mesh
	shown.position = at
	shown.material_override = material
	add_child(shown)
func _process(_delta: float) -> void:
	frames += 1
	# The sun moves, so that shadows are rendered in every frame.
	sun.rotation_degrees.y = 30.0 + frames
	if frames == FRAMES:
		await RenderingServer.frame_post_draw
		var data := get_viewport().get_texture().get_image().get_data()
		var context := HashingContext.new()
		context.start(HashingContext.HASH_SHA256)
		context.update(data)
		print(context.finish().hex_encode())
		get_tree().quit()
